// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Comparing a file's header with what must be there, and moving the bytes; see TensorFile.h.
#include "TensorFile.h"
#include "JsonText.h"
#include "Nearest.h"
#include "Result.h"
#include "SafetensorsHeader.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace dbc::io {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are copied as they stand in the file");

namespace {

/// "f32[2, 3]"
std::string shown_type(std::string dtype, const std::vector<int64_t> &extents) {
  for (char &c : dtype)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (size_t i = 0; i < extents.size(); ++i)
    dtype += (i ? ", " : "[") + std::to_string(extents[i]);
  return extents.empty() ? dtype : dtype + "]";
}

/// Lines of one kind; more than a screen or two of them help nobody.
struct Lines {
  static constexpr size_t most = 1000;
  std::string lines;
  size_t count = 0;
  void add(const std::string &line) {
    if (++count <= most)
      lines += "\n  " + line;
  }
  std::string text() const {
    return count > most ? lines + "\n  and " + std::to_string(count - most) + " more like these" : lines;
  }
};

using Extents = std::vector<int64_t>;

/// Names, each with its tensor's extents.
using Known = std::vector<std::pair<std::string, const Extents *>>;

/// The nearest name, of a tensor with these extents if there are any: where there is one alone, however far
/// its name is.
std::string nearest_in(const char *where, const std::string &name, const Extents &extents,
                       const Known &known) {
  std::vector<std::string> same, all;
  for (const auto &[each, its] : known) {
    all.push_back(each);
    if (*its == extents)
      same.push_back(each);
  }
  const size_t limit = std::max<size_t>(name.size(), 4);
  const std::string *best = nearest(name, same, limit);
  if (best == nullptr && same.size() == 1)
    best = &same.front();
  if (best == nullptr && same.empty())
    best = nearest(name, all, limit);
  return best ? std::string(" (nearest in the ") + where + ": `" + shown(*best, 200) + "`)" : "";
}

} // namespace

/// A length that the file's size belies is found before memory is asked for it.
Status TensorFile::open(const std::string &path) {
  std::string error, head(8, '\0');
  uint64_t length = 0;
  if (!file_.open(path, error) || (file_.size() >= 8 && !file_.read(0, head.data(), 8, error)))
    return failure(error);
  if (!header_length(head, file_.size(), length, error))
    return failure("`" + path + "`: " + error, Code::bad_weights);
  head.resize(8 + length);
  if (!file_.read(8, &head[8], length, error))
    return failure(error);
  if (!parse_header(head, file_.size(), header_, error))
    return failure("`" + path + "`: " + error, Code::bad_weights);
  by_name_.resize(header_.tensors.size());
  std::iota(by_name_.begin(), by_name_.end(), size_t(0));
  std::sort(by_name_.begin(), by_name_.end(),
            [&](size_t a, size_t b) { return header_.tensors[a].name < header_.tensors[b].name; });
  return Status();
}

const SafetensorsEntry *TensorFile::find(const std::string &name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name, [&](size_t t, const auto &text) {
    return header_.tensors[t].name < text;
  });
  return at != by_name_.end() && header_.tensors[*at].name == name ? &header_.tensors[*at] : nullptr;
}

std::string TensorFile::misfits(const std::vector<Tensor> &wanted, const std::vector<Tensor> &lacking) const {
  Lines missing_lines, unexpected_lines, shape, type;
  std::vector<bool> used(header_.tensors.size());
  std::vector<const Tensor *> absent;
  for (const Tensor &w : wanted) {
    const SafetensorsEntry *t = find(w.name);
    if (t == nullptr) {
      absent.push_back(&w);
      continue;
    }
    used[static_cast<size_t>(t - header_.tensors.data())] = true;
    if (t->dtype != w.dtype)
      type.add("mis-typed: `" + w.name + "` is " + t->dtype + ", only " + w.dtype + " is read");
    if (t->extents != w.extents)
      shape.add("mis-shaped: `" + w.name + "` is " + shown_type(w.dtype, t->extents) + ", the model has " +
                shown_type(w.dtype, w.extents));
  }
  Known missing, unexpected;
  for (const Tensor *w : absent)
    missing.emplace_back(w->name, &w->extents);
  for (size_t t = 0; t < header_.tensors.size(); ++t)
    if (!used[t])
      unexpected.emplace_back(header_.tensors[t].name, &header_.tensors[t].extents);
  // Each pair may have to be compared; a file of a million foreign names gets no hints.
  const bool hints = missing.size() * unexpected.size() <= 250000;
  for (const Tensor *w : absent)
    missing_lines.add("missing: `" + w->name + "` " + shown_type(w->dtype, w->extents) +
                      (hints ? nearest_in("file", w->name, w->extents, unexpected) : ""));
  Known all;
  for (const Tensor &tensor : lacking)
    all.emplace_back(tensor.name, &tensor.extents);
  if (lacking.empty() && missing.empty() && wanted.size() * unexpected.size() <= 250000)
    for (const Tensor &w : wanted)
      all.emplace_back(w.name, &w.extents);
  for (const auto &[name, extents] : unexpected)
    unexpected_lines.add("unexpected: `" + shown(name, 200) + "`" +
                         (hints ? nearest_in("model", name, *extents, missing.empty() ? all : missing) : ""));
  return missing_lines.text() + unexpected_lines.text() + shape.text() + type.text();
}

std::vector<Tensor> tensors_of(const Weights &weights) {
  std::vector<Tensor> tensors;
  for (int32_t p = 0; p < weights.count(); ++p) {
    const ParamInfo &info = weights.info().params[p];
    tensors.push_back({info.name, "F32", info.extents, sizeof(float) * weights.size(p), weights.data(p)});
  }
  return tensors;
}

bool write_tensors(OutputFile &file, const std::string &path, const Metadata &metadata,
                   const std::vector<Tensor> &tensors, std::string &error) {
  std::string head = "{";
  if (!metadata.empty()) {
    head += "\"__metadata__\":{";
    for (size_t i = 0; i < metadata.size(); ++i) {
      head += i ? "," : "";
      append_string(head, metadata[i].first);
      head += ":";
      append_string(head, metadata[i].second);
    }
    head += "}";
  }
  uint64_t at = 0;
  for (const Tensor &t : tensors) {
    head += head.size() > 1 ? "," : "";
    append_string(head, t.name);
    head += std::string(":{\"dtype\":\"") + t.dtype + "\",\"shape\":[";
    for (size_t i = 0; i < t.extents.size(); ++i)
      head += (i ? "," : "") + std::to_string(t.extents[i]);
    head += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + t.bytes) + "]}";
    at += t.bytes;
  }
  head += "}";
  // Spaces up to a multiple of 8, so that the data is aligned for readers that map the file.
  head.resize((head.size() + 7) / 8 * 8, ' ');
  char length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<char>(head.size() >> (8 * i) & 0xFF);

  if (!file.open(path, error) || !file.write(length, 8, error) ||
      !file.write(head.data(), head.size(), error))
    return false;
  static constexpr char zeros[4096] = {};
  for (const Tensor &t : tensors) {
    if (t.data != nullptr && !file.write(t.data, t.bytes, error))
      return false;
    for (uint64_t left = t.data == nullptr ? t.bytes : 0, n = 0; left > 0; left -= n) {
      n = std::min<uint64_t>(left, sizeof zeros);
      if (!file.write(zeros, n, error))
        return false;
    }
  }
  return file.finish(error);
}

} // namespace dbc::io
