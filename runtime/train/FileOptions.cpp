// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "FileOptions.h"
#include "../io/Result.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace dbc::train {

Status check_files(const TrainOptions &options, const CheckpointFolder *folder) {
  const auto bad = [](const std::string &message) { return io::failure(message, Code::bad_call); };
  if (!options.metric.empty() && options.dev.empty())
    return bad("--metric is measured on the inputs of --dev, which is not given");
  const auto same = [](const std::string &a, const std::string &b) { // which need not be there yet
    std::error_code none;
    return !a.empty() && !b.empty() &&
           (std::filesystem::equivalent(a, b, none) ||
            std::filesystem::weakly_canonical(a, none) == std::filesystem::weakly_canonical(b, none));
  };
  if (folder && !options.resume) // a training that goes on has begun from these
    for (const std::string &kept : folder->files())
      for (const auto &[other, read] : {std::pair("--train", options.train), std::pair("--dev", options.dev),
                                        std::pair("--weights", options.weights)})
        if (same(kept, read))
          return bad("--out would replace " + read + ", the file of " + other);
  for (const auto &[flag, written] : {std::pair("--log", options.log), std::pair("--plot", options.plot),
                                      std::pair("--profile-json", options.profile_json)}) {
    for (const auto &[other, read] : {std::pair("--train", options.train), std::pair("--dev", options.dev),
                                      std::pair("--weights", options.weights)})
      if (same(written, read))
        return bad(std::string(flag) + " would replace the file of " + other);
    if (folder)
      for (const std::string &kept : folder->files())
        if (same(written, kept))
          return bad(std::string(flag) + " would replace " + kept + ", which the training keeps");
  }
  if (same(options.plot, options.log) || (folder && same(options.plot, folder->file("log.csv"))))
    return bad("--plot would replace the log that it draws");
  if (same(options.profile_json, options.plot) || same(options.profile_json, options.log) ||
      (folder && same(options.profile_json, folder->file("log.csv"))))
    return bad("--profile-json would replace the file of --log or --plot");
  if (!options.plot.empty() && options.log.empty() && !folder)
    return bad("--plot draws the log, which --out or --log keep");
  return Status();
}

} // namespace dbc::train
