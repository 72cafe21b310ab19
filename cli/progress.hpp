// Progress on standard error: on a terminal a live line and a line per finished trial, elsewhere only the latter.
#pragma once

#include <string>

#include "cli/surroundings.hpp"
#include "infermeter/run.hpp"

namespace infermeter {

class ProgressDisplay {
 public:
  ProgressDisplay(Surroundings& world, bool quiet) : world_(world), quiet_(quiet) {}
  ~ProgressDisplay() { erase(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void show(const Progress& progress);
  // Takes the live line away, so that what follows begins on a clean one.
  void erase();

 private:
  Surroundings& world_;
  bool quiet_;
  bool live_ = false;
};

// "[ 3/12] resnet50@openvino  timed, 45 iterations, 1 min 20 s left", at most `width` columns.
[[nodiscard]] std::string live_line(const Progress& progress, std::size_t width);
// "[ 3/12] resnet50@openvino  p50 11.2 ms, 100 iterations in 2.31 s", or how the trial failed.
[[nodiscard]] std::string finished_line(const Progress& progress);

}  // namespace infermeter
