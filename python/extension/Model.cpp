// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Model.h"

#include <chrono>
#include <dbc/counted.h>
#include <dbc/io/optimizer.h>
#include <dbc/io/safetensors.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <unistd.h>

namespace dbc::python {

LoadedModel::LoadedModel(nb::object code, int32_t threads)
    : code_object(std::move(code)), kept_weights(std::make_shared<KeptWeights>(code_object)),
      weights(kept_weights->weights), code_(nb::cast<LoadedCode *>(code_object)), threads_(threads),
      kept_(code_->info().entries.size()) {}

LoadedModel::~LoadedModel() {
  if (lacks_threads())
    (void)session.release(); // would wait for them for ever
}

bool LoadedModel::lacks_threads() const { return session && threads_ > 1 && getpid() != session_pid_; }

void LoadedModel::renew() {
  const bool first = model.empty();
  Status status;
  {
    nb::gil_scoped_release release; // tables may take a while
    status = first ? dbc::Model::make(code_->code(), weights, &model) : model.renew(weights);
  }
  raise_if_failed(status);
  if (!session)
    session = std::make_unique<Session>(model, threads_), session_pid_ = getpid();
  set_renewed();
}

void LoadedModel::set_shared(const nb::object &parameters) {
  shared_ = parameters;
  const bool is_there = !parameters.is_none();
  changed_ = is_there ? nb::object(parameters.attr("_changed")) : nb::object();
  changed_by_itself_ = is_there ? nb::object(parameters.attr("_changed_by_itself")) : nb::object();
}

void LoadedModel::note_change(const nb::object &asked) {
  if (asked.is_valid())
    stale_ |= nb::cast<bool>(asked()); // remembered: it is said once, and the renewal may fail
}

void LoadedModel::take_over() {
  if (is_stale())
    renew();
}

std::shared_ptr<KeptOutputs> LoadedModel::outputs_for(int32_t entry) {
  constexpr size_t most = 4;
  std::vector<std::shared_ptr<KeptOutputs>> &kept = kept_[entry];
  for (const std::shared_ptr<KeptOutputs> &each : kept)
    if (each.use_count() == 1)
      return each;
  auto made = std::make_shared<KeptOutputs>(code_object);
  if (kept.size() < most)
    kept.push_back(made);
  return made;
}

std::shared_ptr<KeptOutputs> LoadedModel::run(int32_t entry, FilledBatch &filled) {
  if (!session)
    raise("CallError", code_->info().name + ": the model has no weights yet");
  if (lacks_threads())
    raise("CallError", code_->info().name + ": the model's " + std::to_string(threads_) +
                           " threads are not in this forked process: load the model here, or with threads=1");
  if (!filled.code_object().is(code_object))
    raise("CallError", "the batch is of the model `" + filled.code().info().name +
                           "`, compiled with other options or from another file");
  std::shared_ptr<KeptOutputs> kept = outputs_for(entry);
  Status status;
  {
    nb::gil_scoped_release release;
    const auto start = std::chrono::steady_clock::now();
    status = session->run(entry, filled.batch, kept->outputs);
    run_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }
  raise_if_failed(filled.in_words(status));
  return kept;
}

Substitution::Substitution(LoadedModel &model, const nb::object &values) : model_(model) {
  if (values.is_none()) {
    model.refuse_replaced();
    return;
  }
  model.note_change();
  for (const auto [number, array] : nb::cast<nb::dict>(values)) {
    const auto param = nb::cast<int32_t>(number);
    const auto given = nb::cast<Elements<float>>(array);
    if (param < 0 || param >= model.weights.count() || given.size() != model.weights.size(param))
      raise("CallError", "what is to stand for a parameter does not fit it");
    // Copied, as it may be the memory of another parameter.
    others_.emplace_back(param, std::vector<float>(given.data(), given.data() + given.size()));
  }
  swap();
}

Substitution::~Substitution() { swap(); }

void Substitution::swap() {
  for (auto &[param, values] : others_)
    std::swap_ranges(values.begin(), values.end(), model_.weights.data(param));
  if (!others_.empty())
    model_.set_stale();
}

Entry::Entry(nb::object model, int32_t number)
    : model_object_(std::move(model)), model_(nb::cast<LoadedModel *>(model_object_)), number_(number) {
  if (number < 0 || static_cast<size_t>(number) >= model_->code().info().entries.size())
    raise("CallError", "there is no such entry");
}

nb::object Entry::batch_of(nb::handle inputs) const {
  if (nb::isinstance<FilledBatch>(inputs))
    return nb::borrow(inputs);
  nb::object batch = nb::module_::import_("dbc._batches").attr("Batch")(model_->code_object);
  auto &filled = nb::cast<FilledBatch &>(batch);
  nb::object text = nb::borrow(inputs);
  if (PyObject_HasAttrString(inputs.ptr(), "__fspath__"))
    text = nb::module_::import_("dbc._files").attr("read")(inputs);
  const char *begin = nullptr;
  Py_ssize_t size = 0;
  if (PyUnicode_Check(text.ptr()))
    begin = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  else if (PyBytes_Check(text.ptr()))
    begin = PyBytes_AS_STRING(text.ptr()), size = PyBytes_GET_SIZE(text.ptr());
  if (PyErr_Occurred() != nullptr)
    throw nb::python_error();
  if (begin != nullptr) {
    if (text.is(inputs))
      nb::module_::import_("dbc._files").attr("refuse_name")(text);
    filled.fill_with_lines(number_, std::string_view(begin, static_cast<size_t>(size)));
  } else {
    filled.fill_with_objects(number_, inputs);
  }
  return batch;
}

/// The errors of all inputs that failed, as one exception: that of the first, which has the others and what
/// came of the rest. Nothing if all is well.
static void raise_failed_inputs(LoadedModel &model, const FilledBatch &filled, nb::object result) {
  if (model.session->failed() == 0)
    return;
  nb::list errors;
  nb::object module = nb::module_::import_("dbc._errors");
  for (int32_t i = 0; i < filled.batch.inputs(); ++i)
    if (const Status &status = model.session->status(i); !status.ok()) {
      const Status said = filled.in_words(status);
      errors.append(module.attr("from_status")(code_name(said.code), text_of(said.message), i, said.node,
                                               text_of(said.field), filled.object_of(status)));
    }
  nb::object first = module.attr("first_of")(errors, result);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(first.ptr())), first.ptr());
  throw nb::python_error();
}

/// How the next run of a loss is made: `dropout` is (seed, step), or None.
static void set_loss(Session &session, bool gradients, const nb::object &dropout) {
  session.give_gradients(gradients);
  session.drop_elements(!dropout.is_none());
  if (!dropout.is_none())
    session.set_dropout(nb::cast<uint64_t>(dropout[0]), nb::cast<int64_t>(dropout[1]));
}

nb::object Entry::call(nb::handle inputs, nb::object dropout, nb::object substitutes) {
  nb::object batch = batch_of(inputs);
  auto &filled = nb::cast<FilledBatch &>(batch);
  Claim model_claim(model_->busy, "the model"), batch_claim(filled.busy, "the batch");
  const Substitution substitution(*model_, substitutes);
  model_->take_over();
  if (info().is_differentiated() && model_->session)
    set_loss(*model_->session, /*gradients=*/false, dropout);
  std::shared_ptr<KeptOutputs> kept = model_->run(number_, filled);
  nb::object result = results_of(kept, info(), filled, *model_->session);
  raise_failed_inputs(*model_, filled, result);
  return result;
}

nb::tuple Entry::value_and_grad(nb::handle inputs, nb::object weights, nb::object dropout,
                                nb::object substitutes) {
  if (!info().is_differentiated())
    raise("CallError", "`" + info().name + "` has no gradients"); // why not is said in Python
  nb::object batch = batch_of(inputs);
  auto &filled = nb::cast<FilledBatch &>(batch);
  Claim model_claim(model_->busy, "the model"), batch_claim(filled.busy, "the batch");
  const auto count = static_cast<size_t>(filled.batch.inputs());
  std::vector<float> factors(count, 1.0F / static_cast<float>(std::max<size_t>(count, 1)));
  if (!weights.is_none()) {
    auto given = nb::cast<Elements<float>>(weights);
    if (given.size() != count)
      raise("CallError", "`weights` has " + counted(given.size(), "number") + ", but the batch has " +
                             counted(count, "input"));
    factors.assign(given.data(), given.data() + count);
  } else if (filled.weights.size() == count) {
    for (size_t i = 0; i < count; ++i)
      factors[i] = filled.weights[i] / static_cast<float>(count);
  }
  const Substitution substitution(*model_, substitutes);
  model_->take_over();
  if (model_->session) {
    set_loss(*model_->session, /*gradients=*/true, dropout);
    model_->session->weigh_losses(factors.data(), static_cast<int32_t>(count));
  }
  std::shared_ptr<KeptOutputs> kept = model_->run(number_, filled);
  nb::object result = results_of(kept, info(), filled, *model_->session);
  raise_failed_inputs(*model_, filled, result);
  double value = 0;
  for (size_t i = 0; i < count; ++i)
    value += static_cast<double>(factors[i]) * kept->outputs.number(0, i);
  return nb::make_tuple(value, result, gradients_of(kept, info(), filled), nb::cast(kept));
}

/// The values of a parameter: the memory of the model's, which keeps the weights and not the model.
static nb::object param_view(LoadedModel &model, int32_t param) {
  Claim claim(model.busy, "the model");
  const ModelInfo &info = model.code().info();
  if (param < 0 || static_cast<size_t>(param) >= info.params.size())
    raise("CallError", "there is no such parameter");
  std::vector<size_t> shape(info.params[param].extents.begin(), info.params[param].extents.end());
  nb::capsule owner(new std::shared_ptr<KeptWeights>(model.kept_weights),
                    [](void *kept) noexcept { delete static_cast<std::shared_ptr<KeptWeights> *>(kept); });
  return nb::ndarray<nb::numpy, float>(model.weights.data(param), shape.size(), shape.data(), owner).cast();
}

/// Takes over an array for each parameter, as one thing: nobody sees a part of it.
static void set_weights(LoadedModel &model, nb::dict arrays) {
  using Values = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
  Claim claim(model.busy, "the model");
  model.refuse_replaced();
  const std::vector<ParamInfo> &params = model.code().info().params;
  std::vector<Values> all;
  for (size_t param = 0; param < params.size(); ++param) {
    const char *name = params[param].name.c_str();
    if (!arrays.contains(name))
      raise("WeightsError", "`" + params[param].name + "` is missing");
    all.push_back(nb::cast<Values>(arrays[name]));
    if (all.back().size() != model.weights.size(static_cast<int32_t>(param)))
      raise("WeightsError", "`" + params[param].name + "` has another size");
  }
  model.set_changed();
  for (size_t param = 0; param < params.size(); ++param)
    raise_if_failed(model.weights.set(params[param].name, all[param].data(), all[param].size()));
  model.renew();
}

/// Copies of all parameters, by name.
static nb::dict copies_of(LoadedModel &model) {
  Claim claim(model.busy, "the model");
  model.refuse_replaced();
  nb::dict copies;
  const Weights &weights = model.weights;
  for (int32_t param = 0; param < weights.count(); ++param) {
    const ParamInfo &info = weights.info().params[param];
    auto copy = std::make_unique<float[]>(weights.size(param));
    std::copy_n(weights.data(param), weights.size(param), copy.get());
    float *numbers = copy.release();
    nb::capsule owner(numbers, [](void *memory) noexcept { delete[] static_cast<float *>(memory); });
    const std::vector<size_t> shape(info.extents.begin(), info.extents.end());
    copies[info.name.c_str()] =
        nb::ndarray<nb::numpy, float>(numbers, shape.size(), shape.data(), owner).cast();
  }
  return copies;
}

static void bind_entry(nb::module_ &module) {
  nb::class_<Entry>(module, "Entry", nb::dynamic_attr(), "An entry or loss of a model.")
      .def(nb::init<nb::object, int32_t>(), nb::arg("model"), nb::arg("number"))
      .def("_call", &Entry::call, nb::arg("inputs").none(), nb::arg("dropout").none(),
           nb::arg("substitutes").none())
      .def("_value_and_grad", &Entry::value_and_grad, nb::arg("inputs").none(), nb::arg("weights").none(),
           nb::arg("dropout").none(), nb::arg("substitutes").none())
      .def("_batch", &Entry::batch_of, nb::arg("inputs").none());
}

void bind_model(nb::module_ &module) {
  nb::class_<KeptOutputs>(module, "KeptOutputs", "What arrays of results show.");
  nb::class_<LoadedModel>(module, "LoadedModel", nb::is_weak_referenceable(), "A model's code with weights.")
      .def(nb::init<nb::object, int32_t>(), nb::arg("code"), nb::arg("threads"))
      .def(
          "draw",
          [](LoadedModel &model, uint64_t seed) {
            Claim claim(model.busy, "the model");
            model.set_changed();
            model.weights.draw(seed);
            model.renew();
          },
          nb::arg("seed"))
      .def(
          "load_weights",
          [](LoadedModel &model, const nb::bytes &path) {
            Claim claim(model.busy, "the model");
            model.refuse_replaced();
            model.set_changed(); // what fails may have read a part
            raise_if_failed(dbc::load_weights(path_of(path), model.weights));
            model.renew();
          },
          nb::arg("path"))
      .def(
          "save_weights",
          [](LoadedModel &model, const nb::bytes &path) {
            Claim claim(model.busy, "the model");
            model.refuse_replaced();
            raise_if_failed(dbc::save_weights(path_of(path), model.weights));
          },
          nb::arg("path"))
      .def("set_weights", &set_weights, nb::arg("arrays"),
           "Takes over a dict that has a contiguous float32 array for each parameter: all, or on an error "
           "none.")
      .def("renew",
           [](LoadedModel &model) {
             Claim claim(model.busy, "the model");
             model.renew();
           })
      .def(
          "version",
          [](LoadedModel &model) {
            Claim claim(model.busy, "the model");
            return model.version;
          },
          "Another number when the weights have changed, but through `shared`.")
      .def_prop_rw("shared", &LoadedModel::shared, &LoadedModel::set_shared, nb::arg().none(),
                   "What else has the memory of the weights, see `dbc.torch.Parameters`.")
      .def("param_view", &param_view, nb::arg("param"))
      .def("weights", &copies_of)
      .def(
          "set_dropout",
          [](LoadedModel &model, uint64_t seed, int64_t step) {
            Claim claim(model.busy, "the model");
            model.dropout_seed = seed;
            model.dropout_step = step;
          },
          nb::arg("seed"), nb::arg("step"))
      .def(
          "next_dropout",
          [](LoadedModel &model) {
            Claim claim(model.busy, "the model");
            return nb::make_tuple(model.dropout_seed, model.dropout_step++);
          },
          "(seed, step) of a run that drops; the one after it is the next step.")
      .def(
          "share_subtrees",
          [](LoadedModel &model, bool on) {
            Claim claim(model.busy, "the model");
            if (!model.session)
              raise("CallError", model.code().info().name + ": the model has no weights yet");
            model.session->share_subtrees(on);
          },
          nb::arg("on"))
      .def_prop_ro(
          "run_ns", [](const LoadedModel &model) { return model.run_ns.load(); },
          "How long the last run took, without Python.");
  bind_entry(module);
}

} // namespace dbc::python
