// Pictures of differences, drawn by Python: a front door of the library; infermeter.hpp includes it.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/fidelity/kept_differences.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter {

struct Picture {
  std::string file;   // a name that every file system takes: "0_mask_worst_1.png", "0_mask_histogram.png"
  std::string bytes;  // PNG
};

// Of every kept output: reference, output and difference of each kept item, and the histogram of all errors. `outputs`
// and `items` are what they are called, `slices` how many of a volume are drawn along each axis.
[[nodiscard]] Result<std::vector<Picture>> draw_differences(const Launcher& launcher, const KeptDifferences& kept,
                                                            std::span<const std::string> outputs,
                                                            std::span<const std::string> items, int slices,
                                                            const std::atomic<int>* interrupt);

}  // namespace infermeter
