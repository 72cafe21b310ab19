// Progress on standard error: on a terminal a live line and a line per finished trial, elsewhere only the latter.
// Verbose: a line per phase that lasts long enough to be seen, and what each trial did, everywhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/flags/verbosity.hpp"
#include "cli/surroundings.hpp"
#include "infermeter/run/run.hpp"

namespace infermeter {

class ProgressDisplay {
 public:
  // `labels`: what each subject of the plan is called.
  ProgressDisplay(Surroundings& world, Verbosity verbosity, std::vector<std::string> labels)
      : world_(world), verbosity_(verbosity), labels_(std::move(labels)) {}
  ~ProgressDisplay() { erase(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void show(const Progress& progress);
  // Takes the live line away, so that what follows begins on a clean one.
  void erase();

 private:
  [[nodiscard]] std::string reported(const Progress& progress) const;
  void enter(const Progress& progress);

  Surroundings& world_;
  Verbosity verbosity_;
  std::vector<std::string> labels_;
  bool live_ = false;
  std::string place_;  // the trial and phase that a verbose line was written for
};

// "[ 3/12] resnet50@openvino  measuring, 45 iterations, 1 min 20 s left", under load what it does at the moment
// ("40.1/s, 3 in flight, p50 11.2 ms, …"), at most `width` columns.
[[nodiscard]] std::string live_line(const Progress& progress, std::size_t width);
// "[ 3/12] resnet50@openvino  p50 11.2 ms, 100 iterations in 2.31 s", or how the trial failed.
[[nodiscard]] std::string finished_line(const Progress& progress);

}  // namespace infermeter
