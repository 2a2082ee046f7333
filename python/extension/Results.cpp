// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Results and gradients as NumPy's arrays, without copies.

#include "Model.h"

#include <nanobind/stl/string.h>

namespace dbc::python {

namespace {

/// What keeps the memory of arrays.
nb::object owner_of(const std::shared_ptr<KeptOutputs> &kept) {
  return nb::capsule(new std::shared_ptr<KeptOutputs>(kept), [](void *pointer) noexcept {
    delete static_cast<std::shared_ptr<KeptOutputs> *>(pointer);
  });
}

/// An array of somebody else's memory; with a const type it cannot be written.
template <class T> nb::object array(T *data, const std::vector<size_t> &shape, nb::handle owner) {
  static std::remove_const_t<T> none{}; // of an array without elements
  return nb::ndarray<nb::numpy, T>(data != nullptr ? data : &none, shape.size(), shape.data(), owner).cast();
}

/// The same of what the runtime does not read again.
template <class T> nb::object own_array(const T *data, const std::vector<size_t> &shape, nb::handle owner) {
  return array(const_cast<T *>(data), shape, owner);
}

/// Walks over a type's components.
class Converter {
public:
  Converter(const std::shared_ptr<KeptOutputs> &kept, const FilledBatch &filled, const Session &session)
      : outputs_(kept->outputs), filled_(filled), session_(session), owner_(owner_of(kept)) {}

  /// A value of the type; `depth` lists are around it.
  nb::object value(const TypeInfo &type, int32_t depth = 0) {
    if (type.form == TypeInfo::Form::Value) {
      nb::object values = component(type);
      return lists(std::move(values), next_++, depth);
    }
    if (type.form == TypeInfo::Form::List)
      return value(type.elements[0], depth + 1);
    nb::list parts;
    for (const TypeInfo &element : type.elements)
      parts.append(value(element, depth));
    if (type.form == TypeInfo::Form::Tuple)
      return nb::tuple(parts);
    nb::list names;
    for (const std::string &name : type.names)
      names.append(nb::str(name.c_str()));
    return nb::module_::import_("dbc._results").attr("record")(type.name, nb::tuple(names), parts);
  }

private:
  /// All values of a component, one after the other.
  nb::object component(const TypeInfo &type) {
    const bool is_list = outputs_.component(next_).info.depth > 0;
    const auto count =
        static_cast<size_t>(is_list ? outputs_.component(next_).values : int64_t(outputs_.inputs()));
    std::vector<size_t> shape = {count};
    shape.insert(shape.end(), type.extents.begin(), type.extents.end());
    if (type.elem == Elem::Node) {
      nb::list nodes;
      for (size_t i = 0; i < count; ++i) {
        // The 0 of an input that failed would be a node of another one; lists of such inputs are empty.
        const bool is_there = is_list || session_.status(static_cast<int32_t>(i)).ok();
        nodes.append(is_there ? filled_.node(type.data, outputs_.i32(next_)[i]) : nb::none());
      }
      return nodes;
    }
    if (type.elem == Elem::F32)
      return outputs_.f64(next_) != nullptr ? own_array(outputs_.f64(next_), shape, owner_)
                                            : own_array(outputs_.f32(next_), shape, owner_);
    nb::object numbers = own_array(outputs_.i32(next_), shape, owner_);
    return type.elem == Elem::Bool ? numbers.attr("astype")("bool") : numbers;
  }
  /// The values cut into lists: for each input a list of lists of .. values.
  nb::object lists(nb::object values, int32_t number, int32_t depth) {
    for (int32_t d = depth - 1; d >= 0; --d) {
      const int32_t *offsets = outputs_.offsets(number, d);
      nb::list cut;
      for (int64_t i = 0; i < outputs_.lists(number, d); ++i)
        cut.append(nb::steal(PySequence_GetSlice(values.ptr(), offsets[i], offsets[i + 1])));
      values = std::move(cut);
    }
    return values;
  }

  const Outputs &outputs_;
  const FilledBatch &filled_;
  const Session &session_; ///< that ran it
  nb::object owner_;
  int32_t next_ = 0; ///< component
};

std::vector<size_t> sizes_of(const std::vector<int64_t> &extents) { return {extents.begin(), extents.end()}; }

/// A gradient in either type of numbers.
nb::object gradient(const float *f32, const double *f64, const std::vector<size_t> &shape, nb::handle owner) {
  return f64 != nullptr ? own_array(f64, shape, owner) : own_array(f32, shape, owner);
}

/// What a gradient of a field or argument is of: the type of a value or of a list's element, and whether
/// lists are around it.
struct Leaf {
  const TypeInfo *type = nullptr;
  bool in_list = false;
};

/// The component number `component` of a type, in the order of flatten(); the number counts down by those
/// that are passed.
Leaf component_of(const TypeInfo &type, int32_t &component) {
  if (type.form == TypeInfo::Form::Value)
    return {component-- == 0 ? &type : nullptr};
  for (const TypeInfo &element : type.elements)
    if (Leaf found = component_of(element, component); found.type != nullptr) {
      found.in_list = found.in_list || type.form == TypeInfo::Form::List;
      return found;
    }
  return {};
}

Leaf leaf_of(const ModelInfo &model, const EntryInfo &loss, const InputGradientInfo &info) {
  int32_t component = info.data < 0 ? info.column : 0;
  if (info.data < 0) {
    for (const ArgInfo &arg : loss.args)
      if (Leaf found = component_of(arg.type, component); found.type != nullptr)
        return found;
  } else {
    for (const ConstructorInfo &constructor : model.datas[info.data].constructors)
      for (const FieldInfo &field : constructor.fields)
        if (field.column == info.column)
          return component_of(field.type, component);
  }
  throw std::logic_error("a gradient of what the model does not have");
}

/// Of a field or argument: an array with a row for each owner, or a list of arrays where it is a list.
nb::object input_gradient(const Outputs &out, int32_t number, const Leaf &leaf, int32_t owners,
                          nb::handle owner) {
  std::vector<size_t> shape = sizes_of(leaf.type->extents);
  shape.insert(shape.begin(), static_cast<size_t>(out.input_gradient_values(number)));
  nb::object values = gradient(out.input_gradient_f32(number), out.input_gradient_f64(number), shape, owner);
  if (!leaf.in_list)
    return values;
  nb::list cut;
  for (int32_t row = 0; row < owners; ++row) {
    const Range range = out.input_gradient_range(number, row);
    cut.append(nb::steal(PySequence_GetSlice(values.ptr(), range.begin, range.end)));
  }
  return std::move(cut);
}

} // namespace

nb::object results_of(const std::shared_ptr<KeptOutputs> &kept, const EntryInfo &entry,
                      const FilledBatch &filled, const Session &session) {
  return Converter(kept, filled, session).value(entry.result);
}

nb::dict gradients_of(const std::shared_ptr<KeptOutputs> &kept, const EntryInfo &loss,
                      const FilledBatch &filled) {
  const ModelInfo &model = filled.code().info();
  const Outputs &out = kept->outputs;
  nb::object owner = owner_of(kept);
  nb::dict named; // no two have one name: losses, data types and params have names of their own (manual, N1)
  for (int32_t param : loss.gradients) {
    if (!out.has_gradient(param))
      continue;
    const std::vector<size_t> shape = sizes_of(model.params[param].extents);
    nb::object value;
    if (const GradientRows rows = out.gradient_rows(param)) {
      std::vector<size_t> of_rows = shape;
      of_rows[0] = static_cast<size_t>(rows.count);
      // An optimizer goes by the rows as they are.
      value = nb::module_::import_("dbc._results")
                  .attr("SparseGradient")(
                      array(rows.rows, {of_rows[0]}, owner),
                      gradient(out.gradient_f32(param), out.gradient_f64(param), of_rows, owner),
                      nb::cast(model.params[param].extents[0]));
    } else {
      value = gradient(out.gradient_f32(param), out.gradient_f64(param), shape, owner);
    }
    named[model.params[param].name.c_str()] = value;
  }
  for (size_t i = 0; i < loss.input_gradients.size(); ++i) {
    const InputGradientInfo &info = loss.input_gradients[i];
    const int32_t table = info.data < 0 ? filled.batch.args() : info.data;
    named[info.name.c_str()] = input_gradient(out, static_cast<int32_t>(i), leaf_of(model, loss, info),
                                              filled.batch.rows(table), owner);
  }
  return named;
}

} // namespace dbc::python
