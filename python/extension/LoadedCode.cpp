// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "LoadedCode.h"

#include <atomic>
#include <dlfcn.h>
#include <nanobind/stl/string.h>
#include <structmember.h>

namespace dbc::python {

nb::object text_of(const std::string &text) {
  nb::object made =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  if (!made.is_valid())
    throw nb::python_error();
  return made;
}

void raise(const char *type, const std::string &message) {
  nb::object error = nb::module_::import_("dbc._errors").attr(type)(text_of(message));
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void raise_if_failed(const Status &status, nb::handle object) {
  if (status.ok())
    return;
  nb::object error = nb::module_::import_("dbc._errors")
                         .attr("from_status")(code_name(status.code), text_of(status.message), status.input,
                                              status.node, text_of(status.field), object);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

/// Makes the runtime in this module visible to compiled models, which have none of their own: Python loads
/// modules for themselves.
static void show_runtime() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(&show_runtime), &self) != 0)
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL); // never closed
}

LoadedCode::LoadedCode(const nb::bytes &file, const std::string &model) {
  const std::string path = path_of(file);
  static const bool shown = (show_runtime(), true);
  (void)shown;
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const std::string why = dlerror();
    const bool other = why.find("generated_code_needs_runtime") != std::string::npos;
    raise("CompileError", other ? path + " was compiled by a dbc of another version than this package's"
                                : "the compiled model cannot be loaded: " + why);
  }
  auto entry = reinterpret_cast<const ModelCode *(*)()>(dlsym(handle_, ("dbc_code_" + model).c_str()));
  if (entry == nullptr) {
    dlclose(handle_);
    raise("CompileError", path + " has no model `" + model + "`");
  }
  code_ = entry();
}

LoadedCode::~LoadedCode() {
  if (handle_ != nullptr)
    dlclose(handle_);
}

void LoadedCode::set_classes(nb::list classes) {
  std::vector<Constructor> constructors;
  if (!constructors_.empty())
    raise("CallError", "the classes of the nodes are set already");
  if (classes.size() != info().datas.size())
    throw nb::value_error("one list of classes is wanted for each data type");
  for (size_t d = 0; d < info().datas.size(); ++d) {
    const DataInfo &data = info().datas[d];
    auto of_data = nb::cast<nb::list>(classes[d]);
    if (of_data.size() != data.constructors.size())
      throw nb::value_error("one class is wanted for each constructor");
    for (size_t k = 0; k < data.constructors.size(); ++k) {
      nb::object type = of_data[k];
      if (!PyType_Check(type.ptr()))
        throw nb::type_error("a class is wanted for each constructor");
      Constructor constructor{
          static_cast<int32_t>(d), static_cast<int32_t>(k), reinterpret_cast<PyTypeObject *>(type.ptr()), {}};
      auto names = nb::cast<nb::tuple>(type.attr("__slots__"));
      for (size_t f = 0; f < data.constructors[k].fields.size(); ++f) {
        nb::object descriptor = type.attr("__dict__")[names[f]];
        if (!Py_IS_TYPE(descriptor.ptr(), &PyMemberDescr_Type))
          throw nb::type_error("a class of nodes has a slot for each field");
        constructor.slots.push_back(
            {reinterpret_cast<PyMemberDescrObject *>(descriptor.ptr())->d_member->offset,
             data.constructors[k].fields[f].column});
      }
      constructors.push_back(std::move(constructor));
    }
  }
  constructors_ = std::move(constructors);
  for (const Constructor &constructor : constructors_)
    by_type_[constructor.type] = &constructor;
  classes_ = std::move(classes);
}

const Constructor *LoadedCode::constructor_of(PyObject *object) const {
  const auto found = by_type_.find(Py_TYPE(object));
  if (found != by_type_.end())
    return found->second;
  // A class of the user's that is derived from one of ours has its slots where ours has them.
  for (const Constructor &constructor : constructors_)
    if (PyType_IsSubtype(Py_TYPE(object), constructor.type))
      return &constructor;
  return nullptr;
}

Claim::Claim(std::atomic<bool> &busy, const std::string &what) : busy_(busy) {
  if (busy.exchange(true, std::memory_order_acquire))
    raise("CallError", what + " is in use by another thread");
}

const char *name_of(Elem elem) {
  switch (elem) {
  case Elem::Index:
    return "index";
  case Elem::Int:
    return "int";
  case Elem::Bool:
    return "bool";
  case Elem::F32:
    return "f32";
  case Elem::Node:
    return "node";
  }
  return "";
}

static const char *name_of(TypeInfo::Form form) {
  switch (form) {
  case TypeInfo::Form::Value:
    return "value";
  case TypeInfo::Form::List:
    return "list";
  case TypeInfo::Form::Tuple:
    return "tuple";
  case TypeInfo::Form::Record:
    return "record";
  }
  return "";
}

static nb::list list_of(const std::vector<int64_t> &numbers) {
  nb::list out;
  for (int64_t number : numbers)
    out.append(number);
  return out;
}

static nb::dict describe(const TypeInfo &type) {
  nb::dict out;
  nb::list elements, names;
  for (const TypeInfo &element : type.elements)
    elements.append(describe(element));
  for (const std::string &name : type.names)
    names.append(nb::str(name.c_str()));
  out["form"] = name_of(type.form);
  out["elem"] = name_of(type.elem);
  out["bound"] = type.bound;
  out["data"] = type.data;
  out["shape"] = nb::tuple(list_of(type.extents));
  out["name"] = nb::str(type.name.c_str());
  out["names"] = names;
  out["elements"] = elements;
  return out;
}

nb::dict describe(const LoadedCode &code) {
  const ModelInfo &info = code.info();
  nb::dict out;
  const Batch empty(info); // for where arguments stand
  nb::list datas, params, entries;
  for (const DataInfo &data : info.datas) {
    nb::list constructors;
    for (const ConstructorInfo &constructor : data.constructors) {
      nb::list fields;
      for (const FieldInfo &field : constructor.fields)
        fields.append(nb::make_tuple(field.name, describe(field.type)));
      constructors.append(nb::make_tuple(constructor.name, fields));
    }
    datas.append(nb::make_tuple(data.name, constructors));
  }
  for (const ParamInfo &param : info.params)
    params.append(nb::make_tuple(param.name, nb::tuple(list_of(param.extents)), param.is_const));
  for (const EntryInfo &entry : info.entries) {
    const auto number = static_cast<int32_t>(&entry - info.entries.data());
    nb::dict described;
    nb::list args, columns, gradients;
    for (const ArgInfo &arg : entry.args)
      args.append(nb::make_tuple(arg.name, describe(arg.type)));
    for (int32_t component = 0; component < empty.arg_components(number); ++component) {
      const int32_t column = empty.arg_column(number, component);
      columns.append(nb::make_tuple(empty.column_info(empty.args(), column).name, column));
    }
    for (const InputGradientInfo &gradient : entry.input_gradients) {
      const bool is_arg = gradient.data < 0;
      gradients.append(nb::make_tuple(gradient.name, is_arg ? empty.args() : gradient.data,
                                      is_arg ? empty.arg_column(number, gradient.column) : gradient.column));
    }
    described["name"] = nb::str(entry.name.c_str());
    described["is_loss"] = entry.is_loss;
    described["is_differentiated"] = entry.is_differentiated();
    described["args"] = args;
    described["result"] = describe(entry.result);
    described["arg_columns"] = columns;       // (name, column) of each component
    described["input_gradients"] = gradients; // (name, table, column)
    entries.append(described);
  }
  out["name"] = nb::str(info.name.c_str());
  out["datas"] = datas;
  out["params"] = params;
  out["entries"] = entries;
  out["f64"] = code.code().f64;
  return out;
}

void bind_code(nb::module_ &module) {
  nb::class_<LoadedCode>(module, "LoadedCode", nb::is_weak_referenceable(), nb::dynamic_attr(),
                         "A compiled model: the shared object that `dbc compile --shared` made.")
      .def(nb::init<const nb::bytes &, const std::string &>(), nb::arg("path"), nb::arg("model"))
      .def(
          "describe", [](const LoadedCode &code) { return describe(code); },
          "What the model says about itself, in plain dicts, lists and tuples.")
      .def("set_classes", &LoadedCode::set_classes, nb::arg("classes"),
           "Says which classes the nodes have: a list for each data type, in it one for each constructor.");
}

} // namespace dbc::python
