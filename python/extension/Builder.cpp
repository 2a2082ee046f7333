// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nanobind/stl/string.h>

namespace dbc::python {

// --- which objects are which nodes -----------------------------------------------------------------------

void NodeNumbers::clear() {
  ++round_;
  used_ = 0;
}

size_t NodeNumbers::index_of(PyObject *object) const {
  const size_t mask = items_.size() - 1;
  size_t at = (reinterpret_cast<uintptr_t>(object) >> 4) * 0x9E3779B97F4A7C15U >> 20 & mask;
  while (items_[at].round == round_ && items_[at].object != object)
    at = (at + 1) & mask;
  return at;
}

void NodeNumbers::grow() {
  std::vector<Item> old(items_.size() * 2);
  old.swap(items_);
  for (const Item &item : old)
    if (item.round == round_)
      items_[index_of(item.object)] = item;
}

NodeNumbers::Item &NodeNumbers::of(PyObject *object) {
  if (2 * (used_ + 1) > items_.size())
    grow();
  Item &item = items_[index_of(object)];
  if (item.round != round_) {
    item = {object, round_, -1, -1};
    ++used_;
  }
  return item;
}

// --- errors ----------------------------------------------------------------------------------------------

/// What is wrong with an input.
struct Builder::Refusal {
  Status status;
};

void Builder::refuse(const Slot &slot, const std::string &what) {
  Status status = batch_.describe(dbc::Code::bad_input, slot.table, slot.row, slot.column, "");
  if (!positions_.empty()) {
    status.message.resize(status.message.size() - 2); // ": "
    for (const Py_ssize_t position : positions_)
      status.message += "[" + std::to_string(position) + "]";
    status.message += ": ";
  }
  status.message += what;
  throw Refusal{std::move(status)};
}

/// What Python code that was called has raised becomes the error of the slot, if it is about the value.
void Builder::refuse_raised(const Slot &slot) {
  if (PyErr_Occurred() == nullptr)
    refuse(slot, "is no array of numbers");
  nb::python_error error;
  if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError) &&
      !error.matches(PyExc_OverflowError))
    throw error;
  refuse(slot, nb::cast<std::string>(nb::str(error.value())));
}

/// Forgets the exception of a kind that Python has raised; others go on.
static void forget(PyObject *kind) {
  if (PyErr_Occurred() != nullptr && !PyErr_ExceptionMatches(kind))
    throw nb::python_error();
  PyErr_Clear();
}

/// A name in quotes, with its article.
static std::string a(const std::string &name) {
  return (std::strchr("AEIOUaeiou", name[0]) != nullptr ? "an `" : "a `") + name + "`";
}

/// "found a `str`"
static std::string found(nb::handle value) { return "found " + a(Py_TYPE(value.ptr())->tp_name); }

/// The same, with the size of what has one.
static std::string found_sized(nb::handle value) {
  const bool has_size = PyTuple_Check(value.ptr()) || PyList_Check(value.ptr());
  return found(value) + (has_size ? " of " + std::to_string(PySequence_Size(value.ptr())) : "");
}

/// Whether an object that is no node of the model is one of another.
static bool is_other_node(nb::handle value) {
  return PyObject_HasAttrString(reinterpret_cast<PyObject *>(Py_TYPE(value.ptr())), "_is_dbc_node") == 1;
}

/// The name of the model that a node is of: the module that its class says.
static std::string module_of(nb::handle node) {
  return nb::cast<std::string>(nb::str(nb::handle(Py_TYPE(node.ptr())).attr("__module__")));
}

/// The first name in a dict that is none of `names`, in quotes.
static std::string unknown_name(nb::handle dict, const std::vector<std::string> &names) {
  for (nb::handle key : nb::steal<nb::list>(PyDict_Keys(dict.ptr()))) {
    const std::string said = nb::cast<std::string>(PyUnicode_Check(key.ptr()) ? nb::str(key) : nb::repr(key));
    if (!PyUnicode_Check(key.ptr()) || std::find(names.begin(), names.end(), said) == names.end())
      return "`" + said + "`";
  }
  return "a name in the dict";
}

// --- values ----------------------------------------------------------------------------------------------

int32_t Builder::read_int(const TypeInfo &type, nb::handle value, const Slot &slot) {
  nb::object whole;
  if (PyLong_CheckExact(value.ptr()))
    whole = nb::borrow(value);
  else if (!PyBool_Check(value.ptr()))
    whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole.is_valid()) {
    forget(PyExc_TypeError);
    const bool is_index = type.elem == Elem::Index;
    refuse(slot, "expected an " + (is_index ? "index[" + std::to_string(type.bound) + "]" : "int") + ", " +
                     found(value));
  }
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0 || number < INT32_MIN || number > INT32_MAX)
    refuse(slot, "an integer is outside the 32 bits that it has");
  return static_cast<int32_t>(number);
}

float Builder::read_float(nb::handle value, const Slot &slot) {
  const auto rounded = [&](double number) {
    const auto made = static_cast<float>(number);
    if (std::isinf(made) && !std::isinf(number))
      refuse(slot, "a number is outside the 32 bits that it has");
    return made;
  };
  if (PyFloat_CheckExact(value.ptr()))
    return rounded(PyFloat_AS_DOUBLE(value.ptr()));
  const PyNumberMethods *methods = Py_TYPE(value.ptr())->tp_as_number;
  const bool is_number = methods != nullptr && (methods->nb_float != nullptr || methods->nb_index != nullptr);
  if (PyBool_Check(value.ptr()) || !is_number)
    refuse(slot, "expected a number, " + found(value));
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred())
    refuse_raised(slot);
  return rounded(number);
}

int32_t Builder::node_number(nb::handle object, int32_t target, const Slot &slot) {
  NodeNumbers::Item &known = numbers_.of(object.ptr());
  if (known.data == target)
    return known.number;
  const Constructor *constructor = filled_.code().constructor_of(object.ptr());
  if (constructor == nullptr || constructor->data != target) {
    const ModelInfo &info = filled_.code().info();
    std::string of;
    if (constructor == nullptr && is_other_node(object))
      of = " of a model `" + module_of(object) + "` with other data types";
    else if (constructor != nullptr && info.datas[constructor->data].constructors.size() > 1)
      of = " of `" + info.datas[constructor->data].name + "`";
    refuse(slot, "expected " + a(info.datas[target].name) + ", " + found_sized(object) + of);
  }
  const int32_t number = batch_.add_node(target, constructor->number);
  if (number < 0)
    raise("LimitError", "the batch has too many nodes");
  known.data = target;
  known.number = number;
  filled_.objects_[target].push_back(nb::borrow(object));
  pending_.push_back({object.ptr(), constructor, number});
  return number;
}

void Builder::write_scalar(const TypeInfo &type, nb::handle value, const Slot &slot, int32_t depth) {
  switch (type.elem) {
  case Elem::Index:
  case Elem::Int: {
    const int32_t number = read_int(type, value, slot);
    return depth == 0 ? batch_.set_int(slot.table, slot.row, slot.column, number) : batch_.push_int(number);
  }
  case Elem::Bool: {
    if (!PyBool_Check(value.ptr()) && std::strncmp(Py_TYPE(value.ptr())->tp_name, "numpy.bool", 10) != 0)
      refuse(slot, "expected a bool, " + found(value));
    const bool is_true = PyObject_IsTrue(value.ptr()) == 1;
    return depth == 0 ? batch_.set_bool(slot.table, slot.row, slot.column, is_true)
                      : batch_.push_bool(is_true);
  }
  case Elem::F32: {
    const float number = read_float(value, slot);
    return depth == 0 ? batch_.set_f32(slot.table, slot.row, slot.column, number)
                      : batch_.push_f32s(&number, 1);
  }
  case Elem::Node: {
    const int32_t number = node_number(value, type.data, slot);
    return depth == 0 ? batch_.set_node(slot.table, slot.row, slot.column, number) : batch_.push_int(number);
  }
  }
}

namespace {

/// The memory of an object that has an array of numbers as the runtime has them: one after the other, of the
/// type that an element has.
class Buffer {
public:
  Buffer() = default;
  ~Buffer() {
    if (view_.obj != nullptr)
      PyBuffer_Release(&view_);
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  /// Whether it has such memory; no exception is left.
  bool take(nb::handle value, Elem elem) {
    // A masked array has the memory of one without a mask: dbc._arrays refuses it.
    const bool is_array = std::strcmp(Py_TYPE(value.ptr())->tp_name, "numpy.ndarray") == 0;
    if (!PyObject_CheckBuffer(value.ptr()) || (!is_array && PyObject_HasAttrString(value.ptr(), "mask") == 1))
      return false;
    if (PyObject_GetBuffer(value.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      return false;
    }
    const char *wanted = elem == Elem::F32 ? "f" : elem == Elem::Bool ? "?" : "i";
    return view_.format != nullptr && std::strcmp(view_.format, wanted) == 0;
  }
  /// The same of what NumPy makes of any array or nested lists, by dbc._arrays. False with an exception.
  bool convert(nb::handle value, Elem elem) {
    if (take(value, elem))
      return true;
    if (view_.obj != nullptr)
      PyBuffer_Release(&view_);
    const char *kind = elem == Elem::F32 ? "float32" : elem == Elem::Bool ? "bool" : "int32";
    nb::object module = nb::steal(PyImport_ImportModule("dbc._arrays"));
    if (!module.is_valid())
      return false;
    made_ = nb::steal(PyObject_CallMethod(module.ptr(), "elements", "Os", value.ptr(), kind));
    return made_.is_valid() && take(made_, elem);
  }
  int axes() const { return view_.ndim; }
  Py_ssize_t extent(int axis) const { return view_.shape[axis]; }
  template <class T> const T *data() const { return static_cast<const T *>(view_.buf); }

private:
  Py_buffer view_{};
  nb::object made_;
};

std::string shape_of(const Buffer &buffer, int from) {
  std::string text = "[";
  for (int i = from; i < buffer.axes(); ++i)
    text += (i > from ? ", " : "") + std::to_string(buffer.extent(i));
  return text + "]";
}

std::string shape_of(const std::vector<int64_t> &extents) {
  std::string text = "[";
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
  return text + "]";
}

/// Whether the axes of a buffer behind the first `from` are a tensor's.
bool has_shape(const Buffer &buffer, int from, const std::vector<int64_t> &extents) {
  if (buffer.axes() - from != static_cast<int>(extents.size()))
    return false;
  for (size_t i = 0; i < extents.size(); ++i)
    if (buffer.extent(from + static_cast<int>(i)) != extents[i])
      return false;
  return true;
}

} // namespace

/// Elements one after the other into the list that is open.
static void push(Batch &batch, const Buffer &from, Elem elem, size_t count, size_t size) {
  for (size_t i = 0; i < count; ++i)
    if (elem == Elem::F32)
      batch.push_f32s(from.data<float>() + i * size, size);
    else if (elem == Elem::Bool)
      batch.push_bools(from.data<uint8_t>() + i * size, size);
    else
      batch.push_ints(from.data<int32_t>() + i * size, size);
}

void Builder::write_tensor(const TypeInfo &type, nb::handle value, const Slot &slot, int32_t depth) {
  Buffer buffer;
  if (!buffer.convert(value, type.elem))
    refuse_raised(slot);
  if (!has_shape(buffer, 0, type.extents))
    refuse(slot, "expected the shape " + shape_of(type.extents) + ", found " + shape_of(buffer, 0));
  const auto size = static_cast<size_t>(type.size());
  if (depth > 0)
    push(batch_, buffer, type.elem, 1, size);
  else if (type.elem == Elem::F32)
    batch_.set_f32s(slot.table, slot.row, slot.column, buffer.data<float>(), size);
  else if (type.elem == Elem::Bool)
    batch_.set_bools(slot.table, slot.row, slot.column, buffer.data<uint8_t>(), size);
  else
    batch_.set_ints(slot.table, slot.row, slot.column, buffer.data<int32_t>(), size);
}

/// An array as a list of numbers or tensors; false: it is none.
bool Builder::write_array(const TypeInfo &element, nb::handle value, const Slot &slot) {
  if (element.form != TypeInfo::Form::Value || element.elem == Elem::Node || PyList_CheckExact(value.ptr()) ||
      PyTuple_CheckExact(value.ptr()))
    return false;
  Buffer buffer;
  if (!buffer.convert(value, element.elem))
    refuse_raised(slot);
  if (buffer.axes() < 1 || !has_shape(buffer, 1, element.extents))
    refuse(slot, buffer.axes() < 1 ? "expected a list, " + found(value)
                                   : "expected elements of the shape " + shape_of(element.extents) +
                                         ", found " + shape_of(buffer, 1));
  push(batch_, buffer, element.elem, static_cast<size_t>(buffer.extent(0)),
       static_cast<size_t>(element.size()));
  return true;
}

void Builder::write_list(const TypeInfo &type, int32_t component, nb::handle value, const Slot &slot,
                         int32_t depth) {
  batch_.open_list(slot.table, slot.row, slot.column);
  if (!write_array(type.elements[0], value, slot)) {
    nb::object items;
    const bool is_used_up = reads_again_ && PyIter_Check(value.ptr()) != 0; // as a `zip` is
    if (!PyUnicode_Check(value.ptr()) && !PyDict_Check(value.ptr()) && !is_used_up)
      items = nb::steal(PySequence_Fast(value.ptr(), ""));
    if (!items.is_valid()) {
      forget(PyExc_TypeError);
      refuse(slot, "expected a list, " + found(value));
    }
    positions_.push_back(0);
    // What is called for an element may change the list.
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); positions_.back() = ++i)
      write(type.elements[0], component, nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i)), slot,
            depth + 1);
    positions_.pop_back();
  }
  batch_.close_list();
}

void Builder::write(const TypeInfo &type, int32_t component, nb::handle value, const Slot &slot,
                    int32_t depth) {
  if (type.form == TypeInfo::Form::Value)
    return type.extents.empty() ? write_scalar(type, value, slot, depth)
                                : write_tensor(type, value, slot, depth);
  if (type.form == TypeInfo::Form::List)
    return write_list(type, component, value, slot, depth);
  size_t part = 0;
  for (int32_t here; component >= (here = type.elements[part].components()); ++part)
    component -= here;
  nb::object of_part;
  if (type.form == TypeInfo::Form::Record && PyDict_Check(value.ptr())) {
    of_part = nb::borrow(PyDict_GetItemString(value.ptr(), type.names[part].c_str()));
    if (of_part.is_valid() && static_cast<size_t>(PyDict_Size(value.ptr())) > type.names.size())
      refuse(slot, unknown_name(value, type.names) + " is no field of `" + type.name + "`");
  } else if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) {
    if (static_cast<size_t>(PySequence_Size(value.ptr())) == type.elements.size())
      of_part = nb::steal(PySequence_GetItem(value.ptr(), static_cast<Py_ssize_t>(part)));
  } else if (type.form == TypeInfo::Form::Record) {
    of_part = nb::steal(PyObject_GetAttrString(value.ptr(), type.names[part].c_str()));
  }
  if (!of_part.is_valid()) {
    forget(PyExc_AttributeError);
    const std::string what = type.form == TypeInfo::Form::Record
                                 ? a(type.name) + " with `" + type.names[part] + "`"
                                 : "a tuple of " + std::to_string(type.elements.size());
    refuse(slot,
           "expected " + what + ", " + found_sized(value) + (PyDict_Check(value.ptr()) ? " without it" : ""));
  }
  write(type.elements[part], component, of_part, slot, depth);
}

// --- inputs ----------------------------------------------------------------------------------------------

void Builder::fill_nodes() {
  reads_again_ = false;
  while (!pending_.empty()) {
    const Pending node = pending_.back();
    pending_.pop_back();
    const Constructor &constructor = *node.constructor;
    const ConstructorInfo &info =
        filled_.code().info().datas[constructor.data].constructors[constructor.number];
    for (size_t f = 0; f < constructor.slots.size(); ++f) {
      const FieldSlot slot = constructor.slots[f];
      nb::object value =
          nb::borrow(*reinterpret_cast<PyObject **>(reinterpret_cast<char *>(node.object) + slot.offset));
      if (value.is_valid()) // else the field is not given
        write(info.fields[f].type, 0, value, {constructor.data, node.row, slot.column}, 0);
    }
  }
}

void Builder::add_argument(int32_t entry, const ArgInfo &arg, int32_t component, nb::handle value) {
  const int32_t count = arg.type.components();
  reads_again_ = count > 1;
  for (int32_t i = 0; i < count; ++i)
    write(arg.type, i, value, {batch_.args(), batch_.inputs() - 1, batch_.arg_column(entry, component + i)},
          0);
}

void Builder::add_input(int32_t entry, nb::handle input) {
  numbers_.clear();
  const int32_t number = batch_.begin_input();
  try {
    read_input(filled_.code().info().entries[entry], entry, input);
  } catch (Refusal &refusal) {
    pending_.clear();
    positions_.clear();
    for (int32_t depth = 0; depth < kMaxListDepth; ++depth) // as many as may be open; others are nothing
      batch_.close_list();
    batch_.fail(number, std::move(refusal.status));
  }
}

/// Whether an input is a dict of arguments: not that which is the only argument, a record.
static bool is_by_name(const EntryInfo &info, nb::handle input) {
  if (!PyDict_Check(input.ptr()) || info.args.size() != 1 || info.args[0].type.form != TypeInfo::Form::Record)
    return PyDict_Check(input.ptr());
  const std::vector<std::string> &fields = info.args[0].type.names;
  return PyDict_Size(input.ptr()) == 1 &&
         PyDict_GetItemString(input.ptr(), info.args[0].name.c_str()) != nullptr &&
         std::find(fields.begin(), fields.end(), info.args[0].name) == fields.end();
}

void Builder::read_input(const EntryInfo &info, int32_t entry, nb::handle input) {
  const Slot whole{batch_.args(), batch_.inputs() - 1, -1};
  const bool is_dict = is_by_name(info, input);
  const bool is_tuple = info.args.size() != 1 && PyTuple_Check(input.ptr());
  if (info.args.size() != 1 && !is_dict &&
      !(is_tuple && static_cast<size_t>(PyTuple_GET_SIZE(input.ptr())) == info.args.size()))
    refuse(whole,
           (info.args.empty() ? "expected an empty tuple or dict, as `" + info.name + "` has no arguments, "
                              : "expected a tuple of the " + std::to_string(info.args.size()) +
                                    " arguments of `" + info.name + "`, or a dict of them, ") +
               found_sized(input));
  int32_t component = 0;
  size_t named = 0;
  for (size_t a = 0; a < info.args.size(); ++a) {
    nb::object value = nb::borrow(is_dict    ? PyDict_GetItemString(input.ptr(), info.args[a].name.c_str())
                                  : is_tuple ? PyTuple_GET_ITEM(input.ptr(), static_cast<Py_ssize_t>(a))
                                             : input.ptr());
    if (value.is_valid()) // else the argument is not given
      add_argument(entry, info.args[a], component, value), ++named;
    component += info.args[a].type.components();
  }
  if (is_dict && named != static_cast<size_t>(PyDict_Size(input.ptr()))) {
    std::vector<std::string> names;
    for (const ArgInfo &arg : info.args)
      names.push_back(arg.name);
    refuse(whole, unknown_name(input, names) + " is no argument of `" + info.name + "`");
  }
  fill_nodes();
}

} // namespace dbc::python
