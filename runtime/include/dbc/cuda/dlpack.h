// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Tensors of other libraries, as DLPack describes them, for fields and arguments of a batch, and results on a
// device for them. What the host reads of a batch is on the host, or is fetched first:
//
//   DLManagedTensor *words = nullptr; // of integers, which lie on the device
//   dbc::Status status = dbc::fetch_tensor(context, on_device, &words);
//   status = dbc::borrow_tensor(batch, table, column, words->dl_tensor);
//   status = session.run(entry, batch);
//   batch.clear();
//   words->deleter(words);
//
// The only header that needs dlpack/dlpack.h (Debian: libdlpack-dev); runtime.h does not
// include it.
#pragma once

#include <dbc/batch.h>
#include <dbc/counted.h>
#include <dbc/cuda/context.h>

#include <dlpack/dlpack.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace dbc {

namespace detail {
constexpr uint8_t kDLBool = 6; // of later versions

inline bool is_on_device(const DLTensor &tensor) {
  return tensor.device.device_type == kDLCUDA || tensor.device.device_type == kDLCUDAManaged;
}
inline const char *first_element(const DLTensor &tensor) {
  return static_cast<const char *>(tensor.data) + tensor.byte_offset;
}

/// Counts the elements of a row, of all axes but the first. Tells what keeps the tensor's elements from lying
/// one behind the other, "" where nothing does.
inline std::string count_row(const DLTensor &tensor, int64_t *elements) {
  constexpr int64_t kMost = INT64_MAX >> 8; // then bytes can be counted too
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    return "has no shape, but a null pointer";
  bool none = false;
  for (int32_t n = 0; n < tensor.ndim; ++n)
    none |= tensor.shape[n] == 0;
  *elements = 1;
  for (int32_t n = tensor.ndim - 1; n >= 0; --n) {
    const int64_t length = tensor.shape[n];
    // An axis of length 1 may say anything, and so may a tensor without elements.
    if (tensor.strides != nullptr && length > 1 && !none && tensor.strides[n] != *elements)
      return "is not compact: stride " + std::to_string(tensor.strides[n]) + " of axis " + std::to_string(n) +
             ", not " + std::to_string(*elements);
    if (length < 0)
      return "has an axis of length " + std::to_string(length);
    if (length > 0 && *elements > kMost / length)
      return "has more elements than there can be";
    if (n > 0)
      *elements *= length;
  }
  return std::string();
}
} // namespace detail

/// Borrows a tensor as a whole column, until the batch's next clear(): of arguments (table batch.args(),
/// Batch::arg_column) or of a data type's nodes, after borrow_inputs and borrow_nodes. Its shape is the rows,
/// and behind them any extents whose product is the number of elements in a value; strides are null or
/// compact. f32 are 32-bit floats, on the host or on the device that computes the run; int, index and nodes
/// are 32-bit integers and bool 8-bit ones, 0 or 1, on the host, which reads them: fetch_tensor copies others
/// there. What is on a device must be there in the order of the context's stream; and where a value has a
/// multiple of 4 elements begin at a multiple of 16 bytes, else the run fails with bad_call. Fails with
/// bad_call, and the batch is as before.
inline Status borrow_tensor(Batch &batch, int32_t table, int32_t column, const DLTensor &tensor) {
  if (table < 0 || table > batch.args() || column < 0 || column >= batch.columns(table))
    return Status::error(Code::bad_call, batch.info().name + ": there is no such column for a tensor");
  const ColumnInfo &info = batch.column_info(table, column);
  const auto wrong = [&](const std::string &what) {
    return Status::error(Code::bad_call, batch.info().name + ": the tensor for `" + info.name + "` " + what);
  };
  if (info.depth > 0)
    return wrong("would have to be a list");
  const DLDataType type = tensor.dtype;
  const bool f32 = info.elem == Elem::F32, flag = info.elem == Elem::Bool;
  const bool fits = f32    ? type.code == kDLFloat && type.bits == 32
                    : flag ? (type.code == kDLUInt || type.code == detail::kDLBool) && type.bits == 8
                           : type.code == kDLInt && type.bits == 32;
  if (!fits || type.lanes != 1)
    return wrong(std::string("does not hold ") + (f32    ? "32-bit floats"
                                                  : flag ? "bools"
                                                         : "32-bit integers"));
  const int64_t rows = batch.rows(table);
  int64_t extent = 1;
  if (const std::string what = detail::count_row(tensor, &extent); !what.empty())
    return wrong(what);
  if (tensor.ndim < 1 || tensor.shape[0] != rows)
    return wrong("has " + counted(tensor.ndim < 1 ? 1 : tensor.shape[0], "row") + ", not " +
                 std::to_string(rows));
  if (extent != info.extent)
    return wrong("has " + counted(extent, "element") + " a row, not " + std::to_string(info.extent));
  const auto kind = tensor.device.device_type;
  const bool on_device = detail::is_on_device(tensor);
  if (!on_device && kind != kDLCPU && kind != kDLCUDAHost)
    return wrong("is neither on the host nor on a CUDA device");
  if (on_device && tensor.device.device_id < 0)
    return wrong("is on device " + std::to_string(tensor.device.device_id));
  if (on_device && !f32)
    return wrong("must be on the host, which reads it: fetch_tensor copies it there");
  const char *data = detail::first_element(tensor);
  const size_t count = static_cast<size_t>(rows * extent), bytes = type.bits / 8;
  if (reinterpret_cast<uintptr_t>(data) % bytes != 0)
    return wrong("begins at no multiple of " + std::to_string(bytes) + " bytes");
  if (f32)
    batch.borrow_f32s(table, column, reinterpret_cast<const float *>(data), count,
                      on_device ? tensor.device.device_id : -1);
  else if (flag)
    batch.borrow_bools(table, column, reinterpret_cast<const uint8_t *>(data), count);
  else
    batch.borrow_ints(table, column, reinterpret_cast<const int32_t *>(data), count);
  return Status();
}

/// Copies a tensor from the memory of the context's device to the host, as a compact tensor of the same shape
/// and type that the caller owns: for borrow_tensor, which then checks it like any other, or its elements for
/// Batch::borrow_nodes and borrow_offsets. What is borrowed of it must stay until the batch's next clear();
/// its deleter gives the memory back, from any thread, once. The copy is made in the order of the context's
/// stream and waited for, with all that was begun there: while a batch is computed another context of the
/// model is the better one. By the thread that uses the context. Fails with bad_call if the tensor is not in
/// that memory or not compact, limit without memory or with the reason why there is no device, internal if
/// the device fails; then `copy` is null.
inline Status fetch_tensor(cuda::Context &context, const DLTensor &tensor, DLManagedTensor **copy) {
  struct Owner {
    DLManagedTensor tensor;
    std::unique_ptr<int64_t[]> shape;
    std::unique_ptr<unsigned char[]> elements;
  };
  const cuda::Model &model = context.model();
  const std::string name = model.empty() ? "" : model.host().info().name + ": ";
  if (copy == nullptr)
    return Status::error(Code::bad_call, name + "a tensor is fetched into nothing, a null pointer");
  *copy = nullptr;
  const auto wrong = [&](const std::string &what) {
    return Status::error(Code::bad_call, name + "the tensor " + what);
  };
  if (!detail::is_on_device(tensor))
    return wrong("is not on a CUDA device");
  if (!model.empty() && tensor.device.device_id != model.device())
    return wrong("is in the memory of device " + std::to_string(tensor.device.device_id) +
                 ", the model is on device " + std::to_string(model.device()));
  const DLDataType type = tensor.dtype;
  if (type.bits == 0 || type.bits % 8 != 0 || type.lanes != 1)
    return wrong("holds elements that are no whole bytes");
  int64_t rows = 1, row = 1;
  if (const std::string what = detail::count_row(tensor, &row); !what.empty())
    return wrong(what);
  if (tensor.ndim > 0)
    rows = tensor.shape[0];
  const size_t bytes = static_cast<size_t>(rows * row) * (type.bits / 8);
  const int32_t axes = std::max(tensor.ndim, 0);
  std::unique_ptr<Owner> owner(new (std::nothrow) Owner());
  if (owner) {
    owner->shape.reset(new (std::nothrow) int64_t[static_cast<size_t>(axes)]);
    owner->elements.reset(new (std::nothrow) unsigned char[bytes]);
  }
  if (!owner || !owner->shape || !owner->elements)
    return Status::error(Code::limit, name + "not enough memory to copy a tensor: " + std::to_string(bytes) +
                                          " bytes are needed");
  if (Status status = context.copy_to_host(owner->elements.get(), detail::first_element(tensor), bytes);
      !status.ok())
    return status;
  std::copy(tensor.shape, tensor.shape + axes, owner->shape.get());
  DLTensor &made = owner->tensor.dl_tensor;
  made.data = owner->elements.get();
  made.device = {kDLCPU, 0};
  made.ndim = axes;
  made.dtype = type;
  made.shape = owner->shape.get();
  made.strides = nullptr;
  made.byte_offset = 0;
  owner->tensor.manager_ctx = owner.get();
  owner->tensor.deleter = [](DLManagedTensor *self) { delete static_cast<Owner *>(self->manager_ctx); };
  *copy = &owner.release()->tensor;
  return Status();
}

/// Takes a result that stays on the device, see cuda::Context::get_result, as a tensor that the caller owns:
/// it is there for any stream, is nobody else's, may outlive the context, and its deleter gives the memory
/// back, from any thread, once: what was begun with it must be done by then. Rows (one an input, or an
/// element of its lists) times elements of a row, an axis that a single number has not. Rows may be padded:
/// strides tell. f32 are 32-bit floats (64-bit with --real f64), bool 8-bit bools, all others 32-bit
/// integers. On failure `tensor` is null.
inline Status get_result_tensor(cuda::Context &context, int32_t component, DLManagedTensor **tensor) {
  struct Owner {
    DLManagedTensor tensor;
    cuda::DeviceResult result;
    int64_t shape[2], strides[2];
  };
  if (tensor == nullptr)
    return context.get_result(component, nullptr); // which says so
  *tensor = nullptr;
  std::unique_ptr<Owner> owner(new (std::nothrow) Owner());
  if (!owner)
    return Status::error(Code::limit, "not enough memory to take a result");
  if (Status status = context.get_result(component, &owner->result); !status.ok())
    return status;
  const cuda::DeviceResult &result = owner->result;
  owner->shape[0] = result.rows();
  owner->shape[1] = result.info().extent;
  owner->strides[0] = result.stride();
  owner->strides[1] = 1;
  DLTensor &made = owner->tensor.dl_tensor;
  made.data = result.data();
  made.device = {kDLCUDA, result.device()};
  made.ndim = result.info().extent == 1 ? 1 : 2;
  const uint8_t code = result.info().elem == Elem::F32    ? uint8_t(kDLFloat)
                       : result.info().elem == Elem::Bool ? detail::kDLBool
                                                          : uint8_t(kDLInt);
  made.dtype = {code, static_cast<uint8_t>(8 * result.number_bytes()), 1};
  made.shape = owner->shape;
  made.strides = owner->strides;
  made.byte_offset = 0;
  owner->tensor.manager_ctx = owner.get();
  owner->tensor.deleter = [](DLManagedTensor *self) { delete static_cast<Owner *>(self->manager_ctx); };
  *tensor = &owner.release()->tensor;
  return Status();
}

} // namespace dbc
