#include "infermeter/stats/summary/distribution.hpp"

#include <array>

#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter {
namespace {

std::vector<double> make_pooled_levels() {
  std::vector<double> levels = {0, 0.001, 0.0025};
  for (int i = 1; i < 200; ++i) levels.push_back(i / 200.0);
  levels.insert(levels.end(), {0.9975, 0.999, 1});
  return levels;
}

std::vector<double> quantiles(std::span<const double> sorted, std::span<const double> levels) {
  std::vector<double> values;
  values.reserve(levels.size());
  for (const double level : levels) values.push_back(quantile(sorted, level));
  return values;
}

std::vector<double> needs_of(std::span<const double> levels) {
  std::vector<double> needs;
  for (const double level : levels) {
    const bool extreme = level == 0 || level == 1;
    needs.push_back(extreme ? 1 : static_cast<double>(quantile_needs(level, Coverage{}.confidence)));
  }
  return needs;
}

}  // namespace

std::span<const double> pooled_levels() {
  static const std::vector<double> levels = make_pooled_levels();
  return levels;
}

std::span<const double> process_levels() {
  static constexpr std::array levels = {0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0};
  return levels;
}

std::vector<double> pooled_needs() { return needs_of(pooled_levels()); }

std::vector<double> process_needs() {
  std::vector<double> needs = needs_of(process_levels());
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (process_levels()[i] == 0.5) needs[i] = 1;
  }
  return needs;
}

TimeDistribution distribution_of(const SubjectTimes& times) {
  TimeDistribution distribution{.n = times.iterations(), .quantiles_s = {}, .processes = {}};
  if (distribution.n == 0) return distribution;
  distribution.quantiles_s = quantiles(times.pooled(), pooled_levels());
  for (const ProcessTimes& process : times.processes) {
    distribution.processes.push_back({.process = process.trial->process,
                                      .position = process.trial->position,
                                      .n = static_cast<std::int64_t>(process.sorted.size()),
                                      .quantiles_s = quantiles(process.sorted, process_levels()),
                                      .fences_s = tukey_fences(process.sorted)});
  }
  return distribution;
}

}  // namespace infermeter
