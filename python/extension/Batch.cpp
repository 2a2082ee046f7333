// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Batch.h"
#include "Builder.h"

#include <nanobind/stl/string_view.h>
#include <utility>

namespace dbc::python {

FilledBatch::FilledBatch(nb::object code)
    : code_object_(std::move(code)), code_(nb::cast<LoadedCode *>(code_object_)), batch(code_->info()),
      objects_(code_->info().datas.size()) {}
FilledBatch::~FilledBatch() = default;

static void check_entry(const LoadedCode &code, int32_t entry) {
  if (entry < 0 || static_cast<size_t>(entry) >= code.info().entries.size())
    raise("CallError", "there is no such entry");
}

void FilledBatch::begin_filling() {
  if (std::exchange(is_filled_, true))
    raise("CallError",
          "the batch is filled already: a batch is made for its inputs and not used again for others");
}

void FilledBatch::fill_with_objects(int32_t entry, nb::handle inputs) {
  if (PyDict_Check(inputs.ptr()))
    raise("CallError", "a batch is a sequence of inputs, such as a list of dicts, not a dict");
  Claim claim(busy, "the batch");
  begin_filling();
  check_entry(*code_, entry);
  nb::object items = nb::steal(PySequence_Fast(inputs.ptr(), "a batch is a sequence of inputs"));
  if (!items.is_valid())
    throw nb::python_error();
  Builder builder(*this);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i)
    builder.add_input(entry, nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i)));
}

void FilledBatch::fill_with_lines(int32_t entry, std::string_view text) {
  Claim claim(busy, "the batch");
  begin_filling();
  check_entry(*code_, entry);
  nb::gil_scoped_release release;
  reader_ = std::make_unique<InstanceReader>(code_->info(), code_->info().entries[entry]);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // Empty lines at the end are none.
    if (text.find_first_not_of(" \t\r\n") == text.npos && line.find_first_not_of(" \t\r") == line.npos)
      break;
    (void)reader_->append(line, batch); // what is wrong with a line is the status of its input
  }
  weights = reader_->weights();
}

void FilledBatch::begin_columns(int32_t inputs) {
  Claim claim(busy, "the batch");
  begin_filling();
  is_flat_ = true;
  batch.borrow_inputs(inputs);
}

void FilledBatch::add_nodes(int32_t data, nb::object kinds, const Elements<int32_t> &begin) {
  Claim claim(busy, "the batch");
  if (begin.size() != static_cast<size_t>(batch.inputs()) + 1)
    raise("CallError", "`begin` has a number for each input, and one more");
  const auto &first = ints_.emplace_back(begin.data(), begin.data() + begin.size());
  const uint8_t *kind = nullptr;
  if (!kinds.is_none()) {
    auto given = nb::cast<Elements<uint8_t>>(kinds);
    if (given.size() != static_cast<size_t>(std::max(first.back(), 0)))
      raise("CallError", "`kind` has a number for each node");
    kind = bytes_.emplace_back(given.data(), given.data() + given.size()).data();
  }
  (void)batch.borrow_nodes(data, kind, first.back(), first.data()); // what is refused, the run says
}

void FilledBatch::add_ints(int32_t table, int32_t column, const Elements<int32_t> &values) {
  Claim claim(busy, "the batch");
  const auto &copy = ints_.emplace_back(values.data(), values.data() + values.size());
  batch.borrow_ints(table, column, copy.data(), copy.size());
}

void FilledBatch::add_bools(int32_t table, int32_t column, const Elements<uint8_t> &values) {
  Claim claim(busy, "the batch");
  const auto &copy = bytes_.emplace_back(values.data(), values.data() + values.size());
  batch.borrow_bools(table, column, copy.data(), copy.size());
}

void FilledBatch::add_floats(int32_t table, int32_t column, Elements<float> values) {
  Claim claim(busy, "the batch");
  borrow(table, column, std::move(values));
}

void FilledBatch::borrow(int32_t table, int32_t column, Elements<float> values) {
  batch.borrow_f32s(table, column, values.data(), values.size());
  floats_.insert_or_assign({table, column}, std::move(values));
}

void FilledBatch::add_offsets(int32_t table, int32_t column, int32_t level,
                              const Elements<int32_t> &offsets) {
  Claim claim(busy, "the batch");
  const auto &copy = ints_.emplace_back(offsets.data(), offsets.data() + offsets.size());
  (void)batch.borrow_offsets(table, column, level, copy.data(), copy.size());
}

void FilledBatch::replace_floats(int32_t table, int32_t column, const Elements<float> &values) {
  Claim claim(busy, "the batch");
  const ColumnInfo &info = batch.column_info(table, column);
  const bool is_args = table == batch.args();
  const DataInfo *data = is_args ? nullptr : &code_->info().datas[table];
  const std::string name =
      "`" + (is_args ? "" : data->name + "_") + info.name + "`"; // as dbc.torch's forward() takes it
  if (info.elem != Elem::F32 || info.depth != 0)
    raise("CallError", name + " is no field or argument of numbers");
  if (is_flat_)
    return borrow(table, column, values);
  batch.finish(); // else there are no kinds yet
  const uint8_t *kinds = batch.kinds(table);
  std::vector<bool> has(is_args ? 1 : data->constructors.size(), is_args);
  for (size_t k = 0; !is_args && k < has.size(); ++k)
    for (const FieldInfo &field : data->constructors[k].fields)
      has[k] = has[k] || field.column == column;
  const auto extent = static_cast<size_t>(info.extent), rows = static_cast<size_t>(batch.rows(table));
  if (values.size() != rows * extent)
    raise("CallError", name + " has another size"); // what shape it has is said in Python
  for (size_t row = 0; row < rows; ++row)
    if (has[kinds != nullptr && !is_args ? kinds[row] : 0])
      batch.set_f32s(table, static_cast<int32_t>(row), column, values.data() + row * extent, extent);
}

nb::object FilledBatch::object_of(const Status &status) const {
  if (status.data < 0 || status.node < 0 || status.input < 0 || status.input >= batch.inputs() ||
      objects_[status.data].empty())
    return nb::none();
  const auto row = static_cast<size_t>(batch.begin(status.data)[status.input]) + status.node;
  return row < objects_[status.data].size() ? objects_[status.data][row] : nb::none();
}

nb::object FilledBatch::node(int32_t data, int32_t number) const {
  if (reader_)
    return nb::int_(reader_->nodes().index(data, number));
  if (number >= 0 && static_cast<size_t>(number) < objects_[data].size())
    return objects_[data][number];
  return nb::int_(number);
}

nb::list FilledBatch::objects(int32_t data) const {
  nb::list out;
  if (data >= 0 && static_cast<size_t>(data) < objects_.size())
    for (const nb::object &object : objects_[data])
      out.append(object);
  return out;
}

nb::list FilledBatch::columns_of(int32_t table) const {
  nb::list out;
  for (int32_t c = 0; c < batch.columns(table); ++c) {
    const ColumnInfo &info = batch.column_info(table, c);
    out.append(
        nb::make_tuple(nb::str(info.name.c_str()), name_of(info.elem), info.extent, info.depth, info.bound));
  }
  return out;
}

void bind_batch(nb::module_ &module) {
  nb::class_<FilledBatch>(module, "Batch", "The inputs of a run.")
      .def(nb::init<nb::object>(), nb::arg("code"))
      .def("_fill_with_objects", &FilledBatch::fill_with_objects, nb::arg("entry"), nb::arg("inputs").none())
      .def("_fill_with_lines", &FilledBatch::fill_with_lines, nb::arg("entry"), nb::arg("text"))
      .def("_begin_columns", &FilledBatch::begin_columns, nb::arg("inputs"))
      .def("_add_nodes", &FilledBatch::add_nodes, nb::arg("data"), nb::arg("kinds").none(), nb::arg("begin"))
      .def("_add_ints", &FilledBatch::add_ints, nb::arg("table"), nb::arg("column"), nb::arg("values"))
      .def("_add_bools", &FilledBatch::add_bools, nb::arg("table"), nb::arg("column"), nb::arg("values"))
      .def("_add_floats", &FilledBatch::add_floats, nb::arg("table"), nb::arg("column"), nb::arg("values"))
      .def("_add_offsets", &FilledBatch::add_offsets, nb::arg("table"), nb::arg("column"), nb::arg("level"),
           nb::arg("offsets"))
      .def("_replace_floats", &FilledBatch::replace_floats, nb::arg("table"), nb::arg("column"),
           nb::arg("values"))
      .def("_objects", &FilledBatch::objects, nb::arg("data"),
           "The objects that became nodes of a data type, in the order of the batch.")
      .def("_columns_of", &FilledBatch::columns_of, nb::arg("table"),
           "For each column of a table: its name, what an element is, how many numbers a value has, how deep "
           "lists are, and the bound of an index.")
      .def(
          "_rows", [](const FilledBatch &filled, int32_t table) { return filled.batch.rows(table); },
          nb::arg("table"))
      .def_prop_ro("_args", [](const FilledBatch &filled) { return filled.batch.args(); })
      .def("__len__", [](const FilledBatch &filled) { return filled.batch.inputs(); });
}

} // namespace dbc::python
