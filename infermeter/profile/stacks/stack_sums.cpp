#include "infermeter/profile/stacks/stack_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

// Beyond them a hostile profile would fill the memory: what comes then stands with what is there.
constexpr std::size_t kMostSummedNodes = 200'000, kMostFunctions = 50'000;
constexpr double kHeaviest = 1e12;

bool is_usable_sample(const StackSample& sample, const StackTrial& trial) {
  if (!(sample.weight >= 0 && sample.weight <= kHeaviest)) return false;  // not a number, too
  if (sample.iteration && *sample.iteration >= trial.samples->iterations()) return false;
  const std::size_t frames = trial.stacks->stacks.frames.size();
  return std::ranges::all_of(sample.frames, [frames](std::uint32_t frame) { return frame < frames; });
}

double mean_wall_s(const Samples& samples) {
  std::vector<double> walls = latencies_s(samples);
  std::erase_if(walls, [](double wall) { return !(wall >= 0 && wall <= kHeaviest); });
  return walls.empty() ? 0 : moments_of(walls).mean;
}

// What frames are distinguished by: an address means nothing in another process, a path nothing on another machine.
std::string name_of(const StackFrame& frame) {
  if (!frame.symbol.empty()) return frame.symbol;
  return fmt::format("\n{}\n{}", file_of(frame.module), frame.offset);
}

}  // namespace

std::string_view file_of(std::string_view module) { return module.substr(module.rfind('/') + 1); }

std::uint32_t main_thread_of(const StackProfile& stacks) {
  // As py-spy, cProfile and name_stacks call it.
  const auto found = std::ranges::find_if(stacks.threads, [](const std::string& name) {
    return name == "main thread" || name == "MainThread" || name == "main";
  });
  return found == stacks.threads.end() ? 0 : static_cast<std::uint32_t>(found - stacks.threads.begin());
}

double seconds_per_weight(const Samples& samples, const StackProfile& stacks) {
  if (samples.iterations() == 0) return 0;
  if (stacks.unit == "s") return 1 / static_cast<double>(samples.iterations());
  const std::uint32_t main = main_thread_of(stacks);
  double weight = 0;
  for (const StackSample& sample : stacks.samples) {
    if (sample.thread == main && sample.weight >= 0 && sample.weight <= kHeaviest) weight += sample.weight;
  }
  return weight > 0 ? mean_wall_s(samples) / weight : 0;
}

StackSums::StackSums(std::vector<StackColumn> columns, std::vector<std::string> kind_of)
    : columns_(std::move(columns)), kind_of_(std::move(kind_of)) {
  nodes.resize(2);
  nodes[1].level = StackLevel::other_threads;
  for (SummedNode& root : nodes) {
    root.seconds.assign(columns_.size(), 0);
    root.self.assign(columns_.size(), 0);
  }
  for (const StackColumn& column : columns_) {
    walls.push_back(mean_wall_s(*column.trial.samples));
    add_functions(column);
    has_operators_ =
        has_operators_ || std::ranges::any_of(column.trial.stacks->stacks.samples, [&](const auto& sample) {
          return sample.op && *sample.op < column.op_of.size();
        });
  }
  merge_small_addresses();
  for (std::size_t column = 0; column < columns_.size(); ++column) add(column);
}

void StackSums::add_functions(const StackColumn& column) {
  Frames& frames = frames_.emplace_back();
  for (const StackFrame& frame : column.trial.stacks->stacks.frames) frames.push_back(function_of(frame));
}

std::size_t StackSums::function_of(const StackFrame& frame) {
  const bool full = by_name_.size() >= kMostFunctions;
  const auto [place, is_new] = by_name_.emplace(full ? "\n\n0" : name_of(frame), functions.size());
  if (is_new) {
    SummedFunction& function = functions.emplace_back();
    function.frame = full ? StackFrame{} : frame;
    function.frame.module = file_of(function.frame.module);
    if (!function.frame.symbol.empty()) function.frame.offset = 0;
    stands_for_.push_back(place->second);
  }
  return place->second;
}

// Where a program was found within code without symbols is hardly ever the same place twice.
void StackSums::merge_small_addresses() {
  std::vector<double> share(functions.size());
  std::vector<std::size_t> seen(functions.size());
  std::size_t number = 0;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const StackTrial& trial = columns_[column].trial;
    double all = 0;
    std::map<std::size_t, double> weights;
    for (const StackSample& sample : trial.stacks->stacks.samples) {
      if (!is_usable_sample(sample, trial)) continue;
      ++number;
      all += sample.weight;
      for (const std::uint32_t frame : sample.frames) {
        const std::size_t function = frames_[column][frame];
        if (functions[function].frame.offset != 0 && std::exchange(seen[function], number) != number) {
          weights[function] += sample.weight;
        }
      }
    }
    for (const auto& [function, weight] : weights)
      share[function] = std::max(share[function], all > 0 ? weight / all : 0);
  }
  const std::size_t count = functions.size();
  for (std::size_t function = 0; function < count; ++function) {
    const StackFrame frame = functions[function].frame;
    if (frame.offset == 0 || share[function] >= kSmallAddress) continue;
    stands_for_[function] = function_of({.symbol = "", .module = frame.module, .offset = 0});
  }
}

std::size_t StackSums::kind_number(const std::string& kind) {
  const auto [place, is_new] = kind_numbers_.emplace(kind, kinds.size());
  if (is_new) kinds.push_back(kind);
  return place->second;
}

void StackSums::add(std::size_t column) {
  const StackTrial& trial = columns_[column].trial;
  const StackProfile& stacks = trial.stacks->stacks;
  const double factor = seconds_per_weight(*trial.samples, stacks);
  const std::uint32_t main = main_thread_of(stacks);
  for (const StackSample& sample : stacks.samples) {
    if (!is_usable_sample(sample, trial)) continue;
    ++samples;
    add_sample(column, sample, sample.weight * factor, sample.thread == main);
  }
}

// Functions from the outermost in; of addresses that stand with their module, neighbours are one.
std::vector<std::size_t> StackSums::path_of(std::size_t column, const StackSample& sample) const {
  std::vector<std::size_t> path;
  for (const std::uint32_t frame : sample.frames) {
    const std::size_t own = frames_[column][frame];
    const std::size_t function = stands_for_[own];
    const bool is_address = functions[function].frame.symbol.empty();
    if (is_address && !path.empty() && path.back() == function) continue;
    path.push_back(function);
  }
  return path;
}

void StackSums::add_sample(std::size_t column, const StackSample& sample, double seconds, bool is_main) {
  const StackColumn& of = columns_[column];
  const std::vector<std::size_t> path = path_of(column, sample);
  std::size_t op = kOutside;
  if (sample.op && *sample.op < of.op_of.size()) op = of.op_of[*sample.op].value_or(kOutside);
  if (is_main) {
    main_weight += seconds;
    if (op != kOutside) tagged_weight += seconds;
    if (path.empty() || functions[path.back()].frame.symbol.empty()) unnamed_weight += seconds;
  }
  add_function_times(column, path, op, seconds, is_main);
  std::size_t node = is_main ? 0 : 1;
  nodes[node].seconds[column] += seconds;
  const auto descend = [&](StackLevel level, std::size_t what) {
    node = child(node, level, what);
    nodes[node].seconds[column] += seconds;
  };
  if (has_operators_ && is_main) {
    descend(StackLevel::kind,
            op == kOutside ? kind_number("") : kind_number(kind_of_[op].empty() ? "(kind unknown)" : kind_of_[op]));
    if (op != kOutside) descend(StackLevel::op, op);
  }
  for (std::size_t i = 0; i < path.size() && nodes.size() < kMostSummedNodes; ++i) {
    if (i == kDeepestDrawnStack) {
      descend(StackLevel::merged, 0);
      break;
    }
    descend(StackLevel::frame, path[i]);
  }
  nodes[node].self[column] += seconds;
}

void StackSums::add_function_times(std::size_t column, const std::vector<std::size_t>& path, std::size_t op,
                                   double seconds, bool is_main) {
  if (path.empty()) return;
  const auto add_to = [&](std::vector<double>& values) {
    values.resize(columns_.size());
    values[column] += seconds;
  };
  SummedFunction& own = functions[path.back()];
  if (!is_main) return add_to(own.helper);
  add_to(own.self);
  own.self_by_op[op] += seconds;
  std::vector<std::size_t> once = path;
  std::ranges::sort(once);
  once.erase(std::ranges::unique(once).begin(), once.end());
  for (const std::size_t function : once) add_to(functions[function].total);
}

std::size_t StackSums::child(std::size_t parent, StackLevel level, std::size_t what) {
  const auto [place, is_new] = nodes[parent].children.emplace(std::pair(level, what), nodes.size());
  const std::size_t number = place->second;
  if (is_new) {
    SummedNode node{.level = level, .what = what, .merged = level == StackLevel::merged ? std::size_t{1} : 0};
    node.seconds.assign(columns_.size(), 0);
    node.self.assign(columns_.size(), 0);
    nodes.push_back(std::move(node));
  }
  return number;
}

}  // namespace infermeter
