// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Lines.h"

#include <dbc/io/value.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace dbc::gpu {

void expect(bool fine, const std::string &message) {
  if (fine)
    return;
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}
void expect(const Status &status) { expect(status.ok(), status.message); }

double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

std::vector<std::string> read_lines(const std::string &file, size_t most) {
  std::ifstream in(file);
  expect(bool(in), file + ": cannot be read");
  std::vector<std::string> lines;
  for (std::string line; lines.size() < most && std::getline(in, line);)
    lines.push_back(line);
  expect(!lines.empty(), file + ": has no lines");
  return lines;
}

LineBatch::LineBatch(const ModelInfo &info, const EntryInfo &entry, const std::vector<std::string> &lines,
                     size_t begin, size_t end)
    : reader(info, entry), batch(info) {
  for (size_t line = begin; line < end; ++line)
    expect(reader.append(lines[line % lines.size()], batch));
}

std::deque<LineBatch> batches_of(const ModelInfo &info, const EntryInfo &entry,
                                 const std::vector<std::string> &lines, size_t size, size_t most) {
  std::deque<LineBatch> batches;
  const size_t count = std::clamp<size_t>(lines.size() / size, 1, most);
  for (size_t n = 0; n < count; ++n)
    batches.emplace_back(info, entry, lines, n * size, (n + 1) * size);
  return batches;
}

Program::Program(const std::string &entry_name, const ModelCode &code) : code(code), weights(*code.info) {
  for (size_t number = 0; number < code.info->entries.size(); ++number)
    if (code.info->entries[number].name == entry_name)
      entry = static_cast<int32_t>(number);
  expect(entry >= 0, code.info->name + ": has no entry `" + entry_name + "`");
  weights.draw(0);
  expect(dbc::Model::make(code, weights, &model));
}

std::vector<std::string> results_of(const Session &session, int32_t entry, const EntryInfo &info,
                                    const LineBatch &batch) {
  std::vector<std::string> lines;
  for (int32_t input = 0; input < batch.batch.inputs(); ++input) {
    const Status &status = session.status(input);
    lines.push_back(
        status.ok()
            ? to_json(output_value(session.outputs(entry), info, input, &batch.reader.nodes()), info.result)
            : error_json(batch.reader.in_lines(status)));
  }
  return lines;
}

} // namespace dbc::gpu
