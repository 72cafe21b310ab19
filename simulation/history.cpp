#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "infermeter/stats/changes/change_points.hpp"
#include "simulation/blocks.hpp"

namespace infermeter::study {
namespace {

constexpr std::size_t runs_of_history = 50;

// Unchanged: first-order autoregressive, started in its stationary distribution.
Times unchanged(double deviation, double autocorrelation, SplitMix& random) {
  Times logs(runs_of_history);
  const double fresh = std::sqrt(1 - autocorrelation * autocorrelation);
  double state = random.normal();
  for (double& log : logs) {
    log = deviation * state;
    state = autocorrelation * state + fresh * random.normal();
  }
  return logs;
}

// Unchanged as well: whoever runs it sends it to one of two hosts that pass for the same machine.
Times on_two_hosts(double slower, double stays, SplitMix& random) {
  Times logs(runs_of_history);
  bool slow = random.uniform() < 0.5;
  for (double& log : logs) {
    log = (slow ? std::log1p(slower) : 0) + 0.005 * random.normal();
    if (random.uniform() > stays) slow = !slow;
  }
  return logs;
}

Times with_step(Times logs, std::size_t at, double change) {
  for (std::size_t i = at; i < logs.size(); ++i) logs[i] += std::log1p(change);
  return logs;
}

bool found_near(const std::vector<ChangePoint>& points, std::size_t at) {
  return std::ranges::any_of(points, [at](const ChangePoint& point) {
    return std::abs(static_cast<double>(point.index) - static_cast<double>(at)) <= 3;
  });
}

Table history_alarms(const Effort& effort) {
  Table table{.caption = "Any change point in 50 runs without a change", .figures = {}, .across = false};
  const auto add = [&](const std::string& what, double deviation, double autocorrelation, Target target) {
    const int hits = count(effort.times(3), what, [&](SplitMix& random) {
      return !find_change_points(unchanged(deviation, autocorrelation, random)).empty();
    });
    table.figures.push_back(rate(what, "", target, hits, effort.times(3).runs));
  };
  // Noise so large that the smallest change that is reported, 1 %, does not decide.
  add("independent runs, 5 %", 0.05, 0, at_most(0.015));
  add("independent runs, 0.5 %", 0.005, 0, at_most(0.015));
  add("autocorrelation 0.5, 5 %", 0.05, 0.5, at_most(0.05));
  add("autocorrelation 0.5, 0.5 %", 0.005, 0.5, at_most(0.05));
  // Beyond what the correction can tell from steps.
  add("autocorrelation 0.7, 5 %", 0.05, 0.7, {});
  add("autocorrelation 0.9, 5 %", 0.05, 0.9, {});
  add("autocorrelation 0.9, 0.5 %", 0.005, 0.9, {});
  for (const double stays : {0.5, 0.8, 0.9}) {
    const std::string what =
        fmt::format("two hosts that differ by 5 %, the next run on the same in {:.0f} %", 100 * stays);
    const int hits = count(
        effort, what, [&](SplitMix& random) { return !find_change_points(on_two_hosts(0.05, stays, random)).empty(); });
    table.figures.push_back(rate(what, "", {}, hits, effort.runs));
  }
  return table;
}

Table steps(const Effort& effort) {
  Table table{.caption = "A step of 2 % in noise of 0.5 %: found, and placed at most 3 runs off",
              .figures = {},
              .across = false};
  const auto add = [&](const std::string& what, std::size_t at) {
    const int hits = count(effort, what, [&](SplitMix& random) {
      return found_near(find_change_points(with_step(unchanged(0.005, 0, random), at, 0.02)), at);
    });
    table.figures.push_back(rate(what, "", at_least(0.95), hits, effort.runs));
  };
  add("in the middle", 25);
  add("seen for the first three runs", runs_of_history - 3);
  return table;
}

}  // namespace

Block history(const Effort& effort) {
  Block block{.number = 6,
              .title = "History",
              .question = "How often is a change seen in a history without one, and how surely one that is there?",
              .text = {},
              .tables = {}};
  block.text =
      "Change points in 50 runs, with the options of `infermeter history`. The statistics do not depend on the size of "
      "the "
      "noise; what keeps small noise quiet is that changes below 1 % are not reported.";
  block.tables.push_back(history_alarms(effort));
  block.tables.push_back(steps(effort));
  return block;
}

}  // namespace infermeter::study
