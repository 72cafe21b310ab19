// Intervals of p90, p95 and p99: latencies whose percentiles are known, spread over few and many processes.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/stats/summary/tail.hpp"
#include "simulation/blocks.hpp"

namespace infermeter::study {
namespace {

struct Percentile {
  double q;
  double z;  // of the standard normal distribution
};
constexpr std::array<Percentile, 3> percentiles = {
    {{0.90, 1.2815515655446004}, {0.95, 1.6448536269514722}, {0.99, 2.3263478740408408}}};

struct Latencies {
  std::string name;
  std::function<double(SplitMix& random, double q, double level)> one;
  std::function<double(const Percentile& percentile)> truth;
  double between = 0;  // standard deviation of a process's level
};

double two_values(SplitMix& random, double slow_share) { return random.uniform() < slow_share ? 3.0 : 1.0; }

std::vector<Latencies> all_latencies() {
  const auto normal = [](SplitMix& random, double, double level) { return 1 + level + 0.02 * random.normal(); };
  return {
      {"normal 2 %", normal, [](const Percentile& p) { return 1 + 0.02 * p.z; }},
      {"Pareto 1.5", [](SplitMix& random, double, double) { return std::pow(1 - random.uniform(), -1 / 1.5); },
       [](const Percentile& p) { return std::pow(1 - p.q, -1 / 1.5); }},
      {"two values, the slow one", [](SplitMix& random, double q, double) { return two_values(random, 1.5 * (1 - q)); },
       [](const Percentile&) { return 3.0; }},
      {"two values, the fast one", [](SplitMix& random, double q, double) { return two_values(random, 0.6 * (1 - q)); },
       [](const Percentile&) { return 1.0; }},
      {"normal 2 %, processes 1 %", normal, [](const Percentile& p) { return 1 + std::hypot(0.02, 0.01) * p.z; }, 0.01},
  };
}

// What is measured: so many processes, each with as many iterations as an interval takes with `planned` of them.
struct Design {
  std::string what;
  Percentile percentile;
  int processes, planned;
};

std::vector<Design> all_designs() {
  std::vector<Design> designs;
  for (const Percentile& percentile : percentiles) {
    for (const int processes : {3, 8, 20, 40}) {
      designs.push_back(
          {fmt::format("p{:.0f} of {} processes", 100 * percentile.q, processes), percentile, processes, processes});
    }
  }
  for (const int processes : {kLeastRounds, kFirstLook, 12}) {
    designs.push_back({fmt::format("p99 of {} processes, of --processes auto", processes), percentiles.back(),
                       processes, kFirstLook});
  }
  return designs;
}

std::vector<Samples> draw_trials(const Latencies& latencies, const Design& design, SplitMix& random) {
  const double q = design.percentile.q;
  const auto iterations =
      static_cast<std::size_t>((tail_iterations(q, design.planned) + design.planned - 1) / design.planned);
  std::vector<Samples> trials(static_cast<std::size_t>(design.processes));
  for (Samples& trial : trials) {
    const double level = latencies.between * random.normal();
    trial.begin_s.assign(iterations, 0.0);
    trial.end_s.resize(iterations);
    for (double& end : trial.end_s) end = latencies.one(random, q, level);
  }
  return trials;
}

}  // namespace

std::vector<Table> tail_percentiles(const Effort& effort) {
  Table held{.caption =
                 "Nominal 95 % intervals of percentiles of the tail, with as many iterations as `infermeter run` "
                 "gives the processes (--processes N; auto: as many as for five): how many of them hold the truth",
             .figures = {},
             .across = true};
  Table shown{.caption = "How many of these samples have an interval at all", .figures = {}, .across = true};
  for (const Design& design : all_designs()) {
    const double q = design.percentile.q;
    for (const Latencies& latencies : all_latencies()) {
      const double truth = latencies.truth(design.percentile);
      const auto outcomes = simulate(effort, design.what + latencies.name, [&](SplitMix& random) {
        const auto trials = draw_trials(latencies, design, random);
        const auto interval = tail_percentile(subject_times(trials, {}), q, 0.95).interval;
        if (!interval) return 0;
        return interval->low <= truth && truth <= interval->high ? 2 : 1;
      });
      int with_interval = 0, holding = 0;
      for (const int outcome : outcomes) {
        with_interval += outcome > 0 ? 1 : 0;
        holding += outcome > 1 ? 1 : 0;
      }
      const Target target = latencies.between == 0 ? at_least(0.94) : Target{};
      held.figures.push_back(rate(design.what, latencies.name, target, holding, std::max(with_interval, 1)));
      shown.figures.push_back(rate(design.what, latencies.name, {}, with_interval, effort.runs));
    }
  }
  return {std::move(held), std::move(shown)};
}

}  // namespace infermeter::study
