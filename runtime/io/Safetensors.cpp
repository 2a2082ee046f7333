// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Weights from and to safetensors files: comparing a file's header with a model's parameters, and moving the
// bytes.
#include "File.h"
#include "JsonText.h"
#include "Nearest.h"
#include "Result.h"
#include "SafetensorsHeader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace dbc {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are copied as they stand in the file");

namespace {

std::string quoted_shape(const char *dtype, const std::vector<int64_t> &extents) {
  std::string text = dtype;
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i ? ", " : "[") + std::to_string(extents[i]);
  return extents.empty() ? text : text + "]";
}

/// Reads a file's length and header. A length that the file's size belies is found before memory is asked for
/// it.
Status read_header(io::InputFile &file, const std::string &path, SafetensorsHeader &header) {
  std::string error, head(8, '\0');
  uint64_t length = 0;
  if (file.size() >= 8 && !file.read(0, head.data(), 8, error))
    return io::failure(error);
  if (!io::header_length(head, file.size(), length, error))
    return io::failure("`" + path + "`: " + error, Code::bad_weights);
  head.resize(8 + length);
  if (!file.read(8, &head[8], length, error))
    return io::failure(error);
  if (!io::parse_header(head, file.size(), header, error))
    return io::failure("`" + path + "`: " + error, Code::bad_weights);
  return Status();
}

/// What of a file does not fit a model, gathered kind by kind.
class Misfits {
public:
  /// `tensor_of[p]` becomes the number of the tensor for parameter p. Returns the message, empty if all fits.
  std::string find(const ModelInfo &model, const SafetensorsHeader &header, std::vector<size_t> &tensor_of) {
    std::unordered_map<std::string, size_t> in_file;
    for (size_t t = 0; t < header.tensors.size(); ++t)
      in_file.emplace(header.tensors[t].name, t);
    std::vector<bool> used(header.tensors.size());
    std::vector<const ParamInfo *> absent;
    for (const ParamInfo &p : model.params) {
      auto it = in_file.find(p.name);
      if (it == in_file.end()) {
        absent.push_back(&p);
        tensor_of.push_back(0);
        continue;
      }
      used[it->second] = true;
      tensor_of.push_back(it->second);
      compare(p, header.tensors[it->second]);
    }
    std::vector<std::string> missing, unexpected;
    for (const ParamInfo *p : absent)
      missing.push_back(p->name);
    for (size_t t = 0; t < header.tensors.size(); ++t)
      if (!used[t])
        unexpected.push_back(header.tensors[t].name);
    // Each pair may have to be compared; a file of a million foreign names gets no hints.
    bool hints = missing.size() * unexpected.size() <= 250000;
    for (const ParamInfo *p : absent)
      add(missing_, "missing: `" + p->name + "` " + quoted_shape("f32", p->extents) +
                        (hints ? nearest_in("file", p->name, unexpected) : ""));
    std::vector<std::string> all;
    if (missing.empty() && model.params.size() * unexpected.size() <= 250000)
      for (const ParamInfo &p : model.params)
        all.push_back(p.name);
    for (const std::string &name : unexpected)
      add(unexpected_, "unexpected: `" + io::shown(name, 200) + "`" +
                           (hints ? nearest_in("model", name, missing.empty() ? all : missing) : ""));
    return missing_.text() + unexpected_.text() + shape_.text() + type_.text();
  }

private:
  /// Lines of one kind; more than a screen or two of them help nobody.
  struct Lines {
    static constexpr size_t most = 1000;
    std::string lines;
    size_t count = 0;
    std::string text() const {
      return count > most ? lines + "\n  and " + std::to_string(count - most) + " more like these" : lines;
    }
  };
  static void add(Lines &to, const std::string &line) {
    if (++to.count <= Lines::most)
      to.lines += "\n  " + line;
  }
  static std::string nearest_in(const char *where, const std::string &name,
                                const std::vector<std::string> &known) {
    const std::string *best = io::nearest(name, known, std::max<size_t>(name.size(), 4));
    return best ? std::string(" (nearest in the ") + where + ": `" + io::shown(*best, 200) + "`)" : "";
  }
  void compare(const ParamInfo &p, const SafetensorsEntry &t) {
    if (t.dtype != "F32")
      add(type_, "mis-typed: `" + p.name + "` is " + t.dtype + ", only F32 is read");
    if (t.extents != p.extents)
      add(shape_, "mis-shaped: `" + p.name + "` is " + quoted_shape("f32", t.extents) + ", the model has " +
                      quoted_shape("f32", p.extents));
  }
  Lines missing_, unexpected_, shape_, type_;
};

/// A line for each tensor with a NaN. Infinities are numbers here: masks have them.
std::string find_nans(const Weights &weights) {
  std::string lines;
  for (int32_t p = 0; p < weights.count(); ++p) {
    const float *begin = weights.data(p), *end = begin + weights.size(p);
    auto nan = [](float x) { return std::isnan(x); };
    if (const float *first = std::find_if(begin, end, nan); first != end)
      lines += "\n  NaN: `" + weights.info().params[p].name + "`, " +
               std::to_string(std::count_if(first, end, nan)) + " of " + std::to_string(weights.size(p)) +
               " elements, the first is element " + std::to_string(first - begin);
  }
  return lines;
}

} // namespace

Status parse_safetensors_header(std::string_view head, uint64_t file_size, SafetensorsHeader &header) {
  return io::guarded([&]() -> Status {
    std::string error;
    SafetensorsHeader read;
    if (!io::parse_header(head, file_size, read, error))
      return io::failure(error, Code::bad_weights);
    header = std::move(read);
    return Status();
  });
}

Status read_safetensors_header(const std::string &path, SafetensorsHeader &header) {
  return io::guarded([&]() -> Status {
    io::InputFile file;
    std::string error;
    if (!file.open(path, error))
      return io::failure(error);
    SafetensorsHeader read;
    Status status = read_header(file, path, read);
    if (status.ok())
      header = std::move(read);
    return status;
  });
}

Status load_weights(const std::string &path, Weights &weights) {
  return io::guarded([&]() -> Status {
    const ModelInfo &model = weights.info();
    io::InputFile file;
    std::string error;
    if (!file.open(path, error))
      return io::failure(model.name + ": " + error);
    SafetensorsHeader header;
    Status status = read_header(file, path, header);
    if (!status.ok()) {
      status.message = model.name + ": " + status.message;
      return status;
    }
    std::vector<size_t> tensor_of;
    std::string misfits = Misfits().find(model, header, tensor_of);
    if (!misfits.empty())
      return io::failure(model.name + ": weights in `" + path + "` do not fit the model" + misfits,
                         Code::bad_weights);
    // All bytes are read before the first one is put in place: a disk that fails halfway changes nothing, and
    // pointers into the weights stay good.
    Weights read(model);
    for (int32_t p = 0; p < weights.count(); ++p)
      if (!file.read(header.data_begin + header.tensors[tensor_of[p]].begin, read.data(p), 4 * read.size(p),
                     error))
        return io::failure(model.name + ": " + error);
    if (std::string nans = find_nans(read); !nans.empty())
      return io::failure(model.name + ": weights in `" + path + "` are not all numbers" + nans,
                         Code::bad_weights);
    for (int32_t p = 0; p < weights.count(); ++p) {
      std::memcpy(weights.data(p), read.data(p), 4 * read.size(p));
      weights.mark_given(p);
    }
    return Status();
  });
}

Status save_weights(const std::string &path, const Weights &weights) {
  return io::guarded([&]() -> Status {
    if (Status status = weights.check(); !status.ok())
      return status;
    std::string head = "{";
    uint64_t at = 0;
    for (int32_t p = 0; p < weights.count(); ++p) {
      const ParamInfo &info = weights.info().params[p];
      head += p ? "," : "";
      io::append_string(head, info.name);
      head += ":{\"dtype\":\"F32\",\"shape\":[";
      for (size_t i = 0; i < info.extents.size(); ++i)
        head += (i ? "," : "") + std::to_string(info.extents[i]);
      uint64_t end = at + 4 * weights.size(p);
      head += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
      at = end;
    }
    head += "}";
    // Spaces up to a multiple of 8, so that the data is aligned for readers that map the file.
    head.resize((head.size() + 7) / 8 * 8, ' ');
    char length[8];
    for (int i = 0; i < 8; ++i)
      length[i] = static_cast<char>(head.size() >> (8 * i) & 0xFF);
    io::OutputFile file;
    std::string error;
    bool done =
        file.open(path, error) && file.write(length, 8, error) && file.write(head.data(), head.size(), error);
    for (int32_t p = 0; done && p < weights.count(); ++p)
      done = file.write(weights.data(p), 4 * weights.size(p), error);
    if (!done || !file.commit(error))
      return io::failure(weights.info().name + ": " + error);
    return Status();
  });
}

} // namespace dbc
