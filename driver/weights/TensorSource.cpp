// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which format a file has, and safetensors.

#include "driver/weights/TensorSource.h"
#include "driver/weights/Elements.h"
#include "driver/weights/NpzSource.h"
#include "runtime/io/SafetensorsHeader.h"
#include <cerrno>
#include <cstring>
#include <dbc/io/safetensors.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dbc::driver {

int64_t TensorSource::find(const std::string &name) const {
  auto at = byName_.find(name);
  return at == byName_.end() ? -1 : static_cast<int64_t>(at->second);
}

bool TensorSource::add(SourceTensor tensor) {
  if (!byName_.emplace(tensor.name, tensors_.size()).second)
    return false;
  tensors_.push_back(std::move(tensor));
  return true;
}

namespace {

class SafetensorsSource : public TensorSource {
public:
  SafetensorsSource(std::string_view bytes, const SafetensorsHeader &header)
      : data_(bytes.data() + header.data_begin) {
    for (const SafetensorsEntry &entry : header.tensors) {
      SourceTensor tensor{entry.name, entry.dtype, entry.extents, ""};
      if (bytesOfFloat(entry.dtype) == 0)
        tensor.unreadable = "only F32, F64, F16 and BF16 are read";
      add(std::move(tensor));
      begin_.push_back(entry.begin);
      size_.push_back(entry.end - entry.begin);
    }
  }

  Status read(size_t tensor, std::unique_ptr<Elements> &elements) override {
    const std::string &dtype = tensors()[tensor].dtype;
    const char *from = data_ + begin_[tensor];
    const size_t count = size_[tensor] / bytesOfFloat(dtype);
    // Files of other programs may begin a tensor at any byte.
    if (dtype == "F32" && reinterpret_cast<uintptr_t>(from) % alignof(float) == 0) {
      elements = std::make_unique<Elements>(reinterpret_cast<const float *>(from), count);
      return Status();
    }
    std::vector<float> own(count);
    Status status = toF32(dtype, from, count, own.data());
    elements = std::make_unique<Elements>(std::move(own));
    return status;
  }

private:
  const char *data_;
  std::vector<uint64_t> begin_, size_; ///< bytes, from data_
};

/// A file mapped into memory, and the source that reads from there.
class MappedSource : public TensorSource {
public:
  MappedSource() = default;
  MappedSource(const MappedSource &) = delete;
  MappedSource &operator=(const MappedSource &) = delete;
  ~MappedSource() override {
    inner_.reset();
    if (address_ != MAP_FAILED)
      ::munmap(address_, size_);
  }

  Status open(const std::string &path) {
    if (Status status = map(path); !status.ok())
      return status;
    Status status = parseSource({static_cast<const char *>(address_), size_}, inner_);
    if (!status.ok())
      return Status::error(status.code, "`" + path + "`: " + status.message);
    for (const SourceTensor &tensor : inner_->tensors())
      add(tensor);
    return status;
  }
  Status read(size_t tensor, std::unique_ptr<Elements> &elements) override {
    return inner_->read(tensor, elements);
  }

private:
  Status map(const std::string &path) {
    auto failed = [&](const char *why) {
      return Status::error(Code::io, "cannot read `" + path + "`: " + why);
    };
    // O_NONBLOCK: opening a pipe must not wait for its writer only to be refused.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    if (file < 0 || ::fstat(file, &about) != 0) {
      const int why = errno;
      if (file >= 0)
        ::close(file);
      return failed(std::strerror(why));
    }
    size_ = static_cast<size_t>(about.st_size);
    const bool regular = S_ISREG(about.st_mode);
    if (regular && size_ > 0)
      address_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    const int why = errno;
    ::close(file);
    if (!regular)
      return failed(S_ISDIR(about.st_mode) ? std::strerror(EISDIR) : "not a regular file");
    if (size_ == 0)
      return failed("it is empty");
    return address_ == MAP_FAILED ? failed(std::strerror(why)) : Status();
  }

  void *address_ = MAP_FAILED;
  size_t size_ = 0;
  std::unique_ptr<TensorSource> inner_;
};

} // namespace

Status parseSource(std::string_view bytes, std::unique_ptr<TensorSource> &source) {
  if (isZip(bytes))
    return parseNpz(bytes, source);
  SafetensorsHeader header;
  if (Status status = parse_safetensors_header(bytes, bytes.size(), header); !status.ok()) {
    const char *other = io::other_format(bytes); // a zip archive is none here: a pickle
    return other ? Status::error(status.code, std::string(other) + ", which is not read" + kInsteadOfPickle)
                 : status;
  }
  source = std::make_unique<SafetensorsSource>(bytes, header);
  return Status();
}

Status openSource(const std::string &path, std::unique_ptr<TensorSource> &source) {
  auto mapped = std::make_unique<MappedSource>();
  Status status = mapped->open(path);
  if (status.ok())
    source = std::move(mapped);
  return status;
}

} // namespace dbc::driver
