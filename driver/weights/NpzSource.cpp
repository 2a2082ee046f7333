// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The archive is read by libzip, the arrays in it by the runtime's reader of .npy.

#include "driver/weights/NpzSource.h"
#include "driver/weights/Elements.h"
#include "driver/weights/Reorder.h"
#include "runtime/io/Nearest.h"
#include "runtime/io/NpyHeader.h"
#include <algorithm>
#include <zip.h>

namespace dbc::driver {

namespace {

/// Dtypes whose elements become f32, by safetensors' names.
constexpr const char *kRead = "F32, F64 and F16";

/// No stream that zlib deflates becomes shorter than that; a header that says so lies, and would cost memory.
constexpr uint64_t kMostDeflated = 1032;

/// A member that is open for reading from its beginning on.
class Member {
public:
  Member(zip_t *archive, uint64_t number)
      : archive_(archive), file_(zip_fopen_index(archive, number, /*flags=*/0)) {}
  Member(const Member &) = delete;
  Member &operator=(const Member &) = delete;
  ~Member() {
    if (file_)
      zip_fclose(file_);
  }

  /// Reads `count` bytes, or what there is; false on an error, that of a wrong checksum behind the last byte
  /// included.
  bool read(char *to, uint64_t count, uint64_t &got, std::string &error) {
    got = 0;
    if (!file_) {
      error = zip_strerror(archive_);
      return false;
    }
    while (got < count) {
      const zip_int64_t n = zip_fread(file_, to + got, count - got);
      if (n < 0) {
        error = zip_error_strerror(zip_file_get_error(file_));
        return false;
      }
      if (n == 0)
        break;
      got += static_cast<uint64_t>(n);
    }
    return true;
  }

private:
  zip_t *archive_;
  zip_file_t *file_;
};

/// safetensors' name of a NumPy dtype; the dtype itself where there is none.
std::string dtypeOf(const std::string &descr) {
  static constexpr std::pair<std::string_view, const char *> known[] = {
      {"<f4", "F32"}, {"<f8", "F64"}, {"<f2", "F16"}, {"<i8", "I64"}, {"<i4", "I32"},
      {"<i2", "I16"}, {"|i1", "I8"},  {"|u1", "U8"},  {"|b1", "BOOL"}};
  for (const auto &[name, dtype] : known)
    if (name == descr)
      return dtype;
  return "'" + io::shown(descr) + "'";
}

class NpzSource : public TensorSource {
public:
  NpzSource() = default;
  NpzSource(const NpzSource &) = delete;
  NpzSource &operator=(const NpzSource &) = delete;
  ~NpzSource() override {
    if (archive_)
      zip_discard(archive_);
  }

  Status open(std::string_view bytes) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes.data(), bytes.size(), /*freep=*/0, &error);
    archive_ = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
    if (!archive_) {
      const std::string why = zip_error_strerror(&error);
      zip_source_free(source);
      zip_error_fini(&error);
      return failure("cannot be read as a zip archive: " + why);
    }
    zip_error_fini(&error);
    const zip_int64_t count = zip_get_num_entries(archive_, /*flags=*/0);
    for (zip_int64_t i = 0; i < count; ++i)
      if (Status status = addMember(static_cast<uint64_t>(i)); !status.ok())
        return status;
    return Status();
  }

  Status read(size_t tensor, std::unique_ptr<Elements> &elements) override {
    const SourceTensor &about = tensors()[tensor];
    const Place &place = places_[tensor];
    std::string bytes(place.size, '\0'), error;
    uint64_t got = 0, behind = 0;
    char last;
    Member member(archive_, place.member);
    if (!member.read(bytes.data(), bytes.size(), got, error) || !member.read(&last, 1, behind, error))
      return failure(error);
    if (got != place.size || behind != 0)
      return failure("it has not the bytes that the archive promises");
    const size_t count = (place.size - place.data) / bytesOfFloat(about.dtype);
    std::vector<float> own(count);
    Status status = toF32(about.dtype, bytes.data() + place.data, count, own.data());
    if (place.fortranOrder && status.ok()) {
      std::vector<int64_t> reversed(about.extents.rbegin(), about.extents.rend()), axes;
      for (size_t i = 0; i < reversed.size(); ++i)
        axes.push_back(static_cast<int64_t>(reversed.size() - 1 - i));
      own = permuted(Elements(std::move(own)), reversed, axes);
    }
    elements = std::make_unique<Elements>(std::move(own));
    return status;
  }

private:
  struct Place {
    uint64_t member = 0;
    uint64_t data = 0; ///< where the elements begin in it
    uint64_t size = 0; ///< bytes of the member
    bool fortranOrder = false;
  };

  static Status failure(std::string message) { return Status::error(Code::bad_weights, std::move(message)); }

  Status addMember(uint64_t number) {
    zip_stat_t about;
    zip_stat_init(&about);
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                                ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive_, number, /*flags: names in UTF-8*/ 0, &about) != 0 ||
        (about.valid & needed) != needed)
      return failure("member " + std::to_string(number) +
                     " of the archive cannot be read: " + zip_strerror(archive_));
    std::string name = about.name;
    // What torch.save writes is a zip archive too, with the tensors' names in a pickle.
    if (name.size() >= 8 && name.compare(name.size() - 8, 8, "data.pkl") == 0)
      return failure(std::string("a PyTorch checkpoint, whose pickle is not read") + kInsteadOfPickle);
    if (name.size() < 4 || name.compare(name.size() - 4, 4, ".npy") != 0)
      return failure("`" + io::shown(name) + "` in the archive is no .npy array");
    SourceTensor tensor;
    tensor.name = name.substr(0, name.size() - 4);
    Place place;
    place.member = number;
    place.size = about.size;
    if (about.encryption_method != ZIP_EM_NONE)
      tensor.unreadable = "it is encrypted";
    else if (about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE)
      tensor.unreadable = "it is neither stored nor deflated";
    else if (about.comp_size > UINT64_MAX / kMostDeflated || about.size > about.comp_size * kMostDeflated)
      tensor.unreadable = "it has not the bytes that the archive promises";
    else
      readHeader(tensor, place);
    if (!add(std::move(tensor)))
      return failure("`" + io::shown(name) + "` is twice in the archive");
    places_.push_back(place);
    return Status();
  }

  /// What an array's header says, and whether it can be read.
  void readHeader(SourceTensor &tensor, Place &place) {
    std::string head(std::min<uint64_t>(place.size, 12), '\0'), text;
    uint64_t got = 0, begin = 0;
    Member member(archive_, place.member);
    if (!member.read(head.data(), head.size(), got, tensor.unreadable))
      return;
    head.resize(got);
    if (!io::npy_preamble(head, place.size, begin, place.data, tensor.unreadable))
      return;
    // What stands behind the preamble, of which the first bytes are read.
    text.resize(std::max<uint64_t>(place.data, head.size()) - head.size());
    if (!member.read(text.data(), text.size(), got, tensor.unreadable))
      return;
    text = (head.substr(begin) + text.substr(0, got)).substr(0, place.data - begin);
    io::NpyHeader header;
    if (!io::parse_npy_header(text, kRead, header, tensor.unreadable))
      return;
    tensor.extents = header.extents;
    tensor.dtype = dtypeOf(header.descr);
    place.fortranOrder = header.fortran_order;
    if (const uint64_t width = bytesOfFloat(tensor.dtype))
      io::check_npy_size(header, width, place.size - place.data, tensor.unreadable);
    else
      tensor.unreadable = "only " + std::string(kRead) + " are read";
  }

  zip_t *archive_ = nullptr;
  std::vector<Place> places_; ///< of each tensor
};

} // namespace

bool isZip(std::string_view bytes) {
  return bytes.substr(0, 4) == "PK\x03\x04" || bytes.substr(0, 4) == "PK\x05\x06"; // the latter has no member
}

Status parseNpz(std::string_view bytes, std::unique_ptr<TensorSource> &source) {
  auto npz = std::make_unique<NpzSource>();
  Status status = npz->open(bytes);
  if (status.ok())
    source = std::move(npz);
  return status;
}

} // namespace dbc::driver
