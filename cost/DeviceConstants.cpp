// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "cost/DeviceConstants.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <vector>

namespace dbc::cost {

double DeviceConstants::rate(llvm::StringRef instruction) const {
  return instruction == "ffma"     ? ffma_per_clock
         : instruction == "tf32"   ? tf32_per_clock
         : instruction == "tf32x3" ? tf32x3_per_clock
                                   : 0;
}

/// The names of the devices that a folder has files of.
static std::vector<std::string> knownDevices(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".json")
      names.push_back(llvm::sys::path::stem(it->path()).str());
  llvm::sort(names);
  return names;
}

/// Whether arrays and objects are nested deeper than `most`, up to where the text is JSON. The parser goes
/// down the machine's stack by a level of them.
static bool nestsDeeper(llvm::StringRef text, int most) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size() && depth <= most; ++i) {
    const char c = text[i];
    if (inString && c == '\\')
      ++i; // what it stands before ends no string
    else if (c == '"')
      inString = !inString;
    else if (!inString)
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
  }
  return depth > most;
}

llvm::Expected<DeviceConstants> readDevice(const std::string &folder, const std::string &nameOrFile) {
  std::string file = nameOrFile;
  std::vector<std::string> known = knownDevices(folder);
  if (llvm::is_contained(known, nameOrFile))
    file = folder + "/" + nameOrFile + ".json";
  else if (!llvm::sys::fs::exists(file))
    return llvm::createStringError("there is no device `" + nameOrFile + "` and no such file; dbc knows `" +
                                   llvm::join(known, "`, `") + "`");
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), file + ": " + buffer.getError().message());
  llvm::StringRef text = (*buffer)->getBuffer();
  constexpr int kDeepest = 16;
  if (nestsDeeper(text, kDeepest))
    return llvm::createStringError(file + ": is no file of a device: it is nested more than " +
                                   llvm::Twine(kDeepest) + " deep");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return llvm::createStringError(file + ": " + llvm::toString(json.takeError()));
  const llvm::json::Object *whole = json->getAsObject();
  const llvm::json::Object *constants = whole ? whole->getObject("constants") : nullptr;
  if (!constants || !whole->getString("device"))
    return llvm::createStringError(file + ": is no file of a device: it needs `device` and `constants`");
  DeviceConstants device;
  device.device = whole->getString("device")->str();
  const std::pair<const char *, double *> wanted[] = {
      {"processors", &device.processors},
      {"clock_ghz", &device.clock_ghz},
      {"threads_per_processor", &device.threads_per_processor},
      {"shared_bytes_per_processor", &device.shared_bytes_per_processor},
      {"start_us", &device.start_us},
      {"launch_us", &device.launch_us},
      {"host_launch_us", &device.host_launch_us},
      {"graph_node_us", &device.graph_node_us},
      {"grid_barrier_us", &device.grid_barrier_us},
      {"word_us", &device.word_us},
      {"l2_latency_us", &device.l2_latency_us},
      {"l2_bytes_per_second", &device.l2_bytes_per_second},
      {"l2_bytes_per_clock", &device.l2_bytes_per_clock},
      {"shared_bytes_per_clock", &device.shared_bytes_per_clock},
      {"ffma_per_clock", &device.ffma_per_clock},
      {"tf32_per_clock", &device.tf32_per_clock},
      {"tf32x3_per_clock", &device.tf32x3_per_clock},
      {"tile_us", &device.tile_us},
      {"product_step_clocks", &device.product_step_clocks},
      {"operation_clocks", &device.operation_clocks}};
  for (const auto &[name, into] : wanted) {
    const llvm::json::Object *constant = constants->getObject(name);
    std::optional<double> value = constant ? constant->getNumber("value") : std::nullopt;
    if (!value || !(*value > 0))
      return llvm::createStringError(file + ": `" + name + "` needs a `value` above 0");
    const bool counts = into == &device.processors || into == &device.threads_per_processor ||
                        into == &device.shared_bytes_per_processor;
    if (counts && (*value < 1 || *value > 1e9 || *value != std::floor(*value)))
      return llvm::createStringError(file + ": `" + name + "` needs an integer from 1 to 1000000000");
    if (*value < 1e-9 || *value > 1e18)
      return llvm::createStringError(file + ": `" + name + "` needs a `value` from 1e-9 to 1e18");
    *into = *value;
    device.measured += constant->getBoolean("measured").value_or(false);
    ++device.count;
  }
  return device;
}

} // namespace dbc::cost
