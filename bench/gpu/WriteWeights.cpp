// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// weights ENTRY INPUTS BATCH FOLDER: writes each parameter to FOLDER/NAME.f32, and the first float result of
// the first BATCH lines, by the CPU, to FOLDER/expected-BATCH.f32: for programs that are not ours.
#include "Lines.h"

#include <cstdlib>
#include <fstream>

using namespace dbc;
using namespace dbc::gpu;

static void write(const std::string &file, const float *values, size_t count) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char *>(values), static_cast<std::streamsize>(count * sizeof(float)));
  expect(bool(out.flush()), file + ": cannot be written");
}

int main(int argc, char **argv) {
  expect(argc == 5, "usage: weights ENTRY INPUTS BATCH FOLDER");
  Program program(argv[1], *DBC_GPU_CODE());
  const std::string folder = argv[4];
  for (int32_t param = 0; param < program.weights.count(); ++param)
    write(folder + "/" + program.code.info->params[param].name + ".f32", program.weights.data(param),
          program.weights.size(param));
  const auto size = static_cast<size_t>(std::atoi(argv[3]));
  LineBatch batch(*program.code.info, program.info(), read_lines(argv[2], size), 0, size);
  Session session(program.model);
  expect(session.run(program.entry, batch.batch));
  const Outputs &results = session.outputs(program.entry);
  write(folder + "/expected-" + argv[3] + ".f32", results.f32(0),
        size * static_cast<size_t>(results.component(0).info.extent));
  return 0;
}
