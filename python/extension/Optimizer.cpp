// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The runtime's optimizers for Python.

#include "Model.h"

#include <dbc/io/optimizer.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace dbc::python {

namespace {

/// An optimizer of one model. All that a step reads or changes is under the model's claim.
class ModelOptimizer {
public:
  ModelOptimizer(nb::object model, const std::string &kind)
      : model_object_(std::move(model)), model_(nb::cast<LoadedModel *>(model_object_)),
        optimizer_(options_of(kind)) {}
  ModelOptimizer(const ModelOptimizer &) = delete;
  ModelOptimizer &operator=(const ModelOptimizer &) = delete;

  void step(const std::shared_ptr<KeptOutputs> &gradients) {
    Claim claim(model_->busy, "the model");
    if (!gradients->code.is(model_->code_object))
      raise("CallError", "the gradients are of another model");
    model_->refuse_replaced();
    // What others have changed is more than the rows of the step.
    const bool is_stale = model_->is_stale();
    model_->set_changed();
    Status status;
    {
      nb::gil_scoped_release release;
      status = optimizer_.step(model_->weights, gradients->outputs);
      if (status.ok() && !is_stale)
        status = model_->model.renew(model_->weights, optimizer_);
    }
    raise_if_failed(status);
    if (is_stale)
      model_->renew();
    else
      model_->set_renewed();
  }
  void freeze(const std::string &name, bool frozen) {
    Claim claim(model_->busy, "the model");
    optimizer_.freeze(param(name), frozen);
  }
  void set_weight_decay(const std::string &name, float decay) {
    Claim claim(model_->busy, "the model");
    optimizer_.set_weight_decay(param(name), decay);
  }
  void set_lr_scale(const std::string &name, float factor) {
    Claim claim(model_->busy, "the model");
    optimizer_.set_lr_scale(param(name), factor);
  }
  void save(const nb::bytes &path) const {
    Claim claim(model_->busy, "the model");
    model_->refuse_replaced();
    raise_if_failed(save_optimizer(path_of(path), model_->weights, optimizer_));
  }
  void load(const nb::bytes &path) {
    Claim claim(model_->busy, "the model");
    model_->refuse_replaced();
    raise_if_failed(load_optimizer(path_of(path), model_->weights, optimizer_));
  }
  /// A step reads options and changes none: to read one needs no claim.
  template <class Number> Number option(Number OptimizerOptions::*which) const {
    return optimizer_.options().*which;
  }
  template <class Number> void set_option(Number OptimizerOptions::*which, Number value) {
    Claim claim(model_->busy, "the model");
    optimizer_.options().*which = value;
  }
  int64_t steps() const {
    Claim claim(model_->busy, "the model");
    return optimizer_.steps();
  }

private:
  static OptimizerOptions options_of(const std::string &kind) {
    using Kind = OptimizerOptions::Kind;
    for (Kind each : {Kind::Sgd, Kind::Adagrad, Kind::Adam, Kind::AdamW})
      if (kind == dbc::name_of(each)) {
        OptimizerOptions options;
        options.kind = each;
        return options;
      }
    throw nb::value_error("an optimizer is sgd, adagrad, adam or adamw");
  }
  int32_t param(const std::string &name) const {
    const int32_t found = model_->weights.find(name);
    if (found < 0)
      raise("CallError", model_->code().info().name + " has no parameter `" + name + "`");
    return found;
  }

  nb::object model_object_;
  LoadedModel *model_;
  Optimizer optimizer_;
};

/// A number or bool of the options as an attribute.
template <class Number>
void bind_option(nb::class_<ModelOptimizer> &bound, const char *name, Number OptimizerOptions::*option) {
  constexpr bool is_flag = std::is_same_v<Number, bool>;
  const std::string setter =
      "def " + std::string(name) + "(self, value: " + (is_flag ? "bool" : "float") + ") -> None";
  bound.def_prop_rw(
      name, [option](const ModelOptimizer &optimizer) { return optimizer.option(option); },
      [name, option](ModelOptimizer &optimizer, nb::handle value) {
        nb::object read =
            nb::module_::import_("dbc._arguments").attr(is_flag ? "flag" : "number")(name, value);
        optimizer.set_option(option, nb::cast<Number>(read));
      },
      nb::for_setter(nb::arg("value").none()), nb::for_setter(nb::sig(setter.c_str())));
}

} // namespace

void bind_optimizer(nb::module_ &module) {
  nb::class_<ModelOptimizer> bound(module, "Optimizer", "The runtime's optimizer of one model.");
  bound.def(nb::init<nb::object, const std::string &>(), nb::arg("model"), nb::arg("kind"))
      .def("_step", &ModelOptimizer::step, nb::arg("kept"))
      .def("_freeze", &ModelOptimizer::freeze, nb::arg("name"), nb::arg("frozen"))
      .def("_set_weight_decay", &ModelOptimizer::set_weight_decay, nb::arg("name"), nb::arg("weight_decay"))
      .def("_set_lr_scale", &ModelOptimizer::set_lr_scale, nb::arg("name"), nb::arg("factor"))
      .def("_save", &ModelOptimizer::save, nb::arg("path"))
      .def("_load", &ModelOptimizer::load, nb::arg("path"))
      .def_prop_ro("steps", &ModelOptimizer::steps, "How many steps were made.");
  bind_option(bound, "lr", &OptimizerOptions::lr);
  bind_option(bound, "momentum", &OptimizerOptions::momentum);
  bind_option(bound, "nesterov", &OptimizerOptions::nesterov);
  bind_option(bound, "beta1", &OptimizerOptions::beta1);
  bind_option(bound, "beta2", &OptimizerOptions::beta2);
  bind_option(bound, "epsilon", &OptimizerOptions::epsilon);
  bind_option(bound, "weight_decay", &OptimizerOptions::weight_decay);
  bind_option(bound, "clip_norm", &OptimizerOptions::clip_norm);
  bind_option(bound, "lazy_rows", &OptimizerOptions::lazy_rows);
}

} // namespace dbc::python
