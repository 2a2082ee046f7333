// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A compiled model as Python has it: the shared object that `dbc compile --shared` made, and the classes
// whose objects are its nodes. What is here needs the GIL unless it says otherwise.
#pragma once

#include <atomic>
#include <dbc/batch.h>
#include <dbc/model.h>
#include <nanobind/nanobind.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace dbc::python {

namespace nb = nanobind;

/// Throws the exception of a status, made by `dbc._errors.from_status`; nothing if it is ok. `object` is the
/// node that is meant, or None.
void raise_if_failed(const Status &status, nb::handle object = nb::none());

/// One field of a constructor: where it is in the objects, and in the batch.
struct FieldSlot {
  Py_ssize_t offset; ///< of the slot in the object, in bytes
  int32_t column;
};

/// One constructor.
struct Constructor {
  int32_t data = 0, number = 0;
  PyTypeObject *type = nullptr; ///< its Python class, held by LoadedCode
  std::vector<FieldSlot> slots; ///< in the order of its fields
};

/// The code of a model, as long as anything that was made of it. Loaded once for each path: the system
/// counts.
class LoadedCode {
public:
  /// Loads the shared object; throws CompileError where that fails, as for one of another version of dbc.
  LoadedCode(const nb::bytes &file, const std::string &model);
  ~LoadedCode();
  LoadedCode(const LoadedCode &) = delete;
  LoadedCode &operator=(const LoadedCode &) = delete;

  const ModelCode &code() const { return *code_; }
  const ModelInfo &info() const { return *code_->info; }

  /// Says once which classes the nodes have: for each data type, for each constructor one, with a slot for
  /// each field.
  void set_classes(nb::list classes);
  /// The constructor that an object was made by; null: it is no node of the model.
  const Constructor *constructor_of(PyObject *object) const;

private:
  void *handle_ = nullptr;
  const ModelCode *code_ = nullptr;
  nb::list classes_;
  std::vector<Constructor> constructors_; ///< of all data types
  std::unordered_map<PyTypeObject *, const Constructor *> by_type_;
};

/// A thing of the runtime that one thread at a time may use: what a second one wants of it is an error.
class Claim {
public:
  /// Throws CallError where another thread has it. `what` goes into the message.
  Claim(std::atomic<bool> &busy, const std::string &what);
  ~Claim() { busy_.store(false, std::memory_order_release); }
  Claim(const Claim &) = delete;
  Claim &operator=(const Claim &) = delete;

private:
  std::atomic<bool> &busy_;
};

/// What a compiled model says about itself, for the classes and stubs that Python makes of it: a dict of
/// plain values.
nb::dict describe(const LoadedCode &code);

/// Throws `dbc._errors.<type>`.
[[noreturn]] void raise(const char *type, const std::string &message);

/// A path, whose bytes may be any.
inline std::string path_of(const nb::bytes &path) { return {path.c_str(), path.size()}; }

/// A text of the runtime's, in which bytes of an input that are no UTF-8 stand as `\xff`.
nb::object text_of(const std::string &text);

/// "index", "int", "bool", "f32" or "node".
const char *name_of(Elem elem);

void bind_code(nb::module_ &module);

} // namespace dbc::python
