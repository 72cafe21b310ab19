#include "infermeter/stats/summary/tail.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter {
namespace {

std::vector<double> all_iterations(const SubjectTimes& times) {
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(times.iterations()));
  for (const ProcessTimes& process : times.processes) {
    all.insert(all.end(), process.sorted.begin(), process.sorted.end());
  }
  return all;
}

// The value of a rank, from 1; reorders `values`.
double value_at(std::vector<double>& values, std::int64_t rank) {
  const auto place = values.begin() + (rank - 1);
  std::ranges::nth_element(values, place);
  return *place;
}

// As quantile() of the values in order.
double unsorted_quantile(std::vector<double>& values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::int64_t>(position);
  const double low = value_at(values, below + 1);
  if (static_cast<std::size_t>(below) + 1 >= values.size()) return low;
  return low + (position - std::floor(position)) * (value_at(values, below + 2) - low);
}

// How much more the share of iterations for which `count` (of one process's sorted times) says yes varies than that of
// independent ones: its variance between processes over F (1 − F) / N (Kish, "Survey Sampling", 1965, §5.4).
template <class Count>
double design_effect_of(const SubjectTimes& times, Count count) {
  const auto total = static_cast<double>(times.iterations());
  const auto processes = static_cast<double>(times.replications);
  std::vector<double> counts(times.replications), sizes(times.replications);
  double sum = 0;
  for (const ProcessTimes& process : times.processes) {
    const auto counted = static_cast<double>(count(process.sorted));
    counts[process.replication] += counted;
    sizes[process.replication] += static_cast<double>(process.sorted.size());
    sum += counted;
  }
  if (sum == 0 || sum == total) return 0;
  const double share = sum / total;
  double squares = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = share * sizes[i];
    squares += (counts[i] - expected) * (counts[i] - expected);
  }
  return processes / (processes - 1) * squares / (total * share * (1 - share));
}

// Of the share at most `value`, or below it, whichever is larger: where many iterations equal it, one of the two may be
// the same in all processes.
double design_effect_at(const SubjectTimes& times, double value) {
  const auto at_most = [value](const auto& sorted) { return std::ranges::upper_bound(sorted, value) - sorted.begin(); };
  const auto below = [value](const auto& sorted) { return std::ranges::lower_bound(sorted, value) - sorted.begin(); };
  return std::max(design_effect_of(times, at_most), design_effect_of(times, below));
}

std::optional<RankInterval> clustered_ranks(const SubjectTimes& times, double value, double q, double confidence) {
  const std::int64_t n = times.iterations();
  auto ranks = quantile_ranks(n, q, confidence);
  if (!ranks || times.replications < 2) return std::nullopt;
  const auto total = static_cast<double>(n);
  const double design_effect = design_effect_at(times, value);
  const boost::math::students_t t(static_cast<double>(times.replications - 1));
  const double reach = boost::math::quantile(t, 0.5 + confidence / 2) * std::sqrt(design_effect * q * (1 - q) * total);
  ranks->low = std::clamp(static_cast<std::int64_t>(std::floor(total * q - reach)), std::int64_t{1}, ranks->low);
  ranks->high = std::max(static_cast<std::int64_t>(std::floor(total * q + reach)) + 1, ranks->high);
  if (ranks->high <= n) return ranks;
  if (total / std::max(1.0, design_effect) < static_cast<double>(quantile_needs(q, confidence))) return std::nullopt;
  ranks->high = n;
  return ranks;
}

}  // namespace

TailPercentile tail_percentile(const SubjectTimes& times, double q, double confidence) {
  INFERMETER_CHECK(!times.processes.empty() && q > 0 && q < 1);
  std::vector<double> values = all_iterations(times);
  TailPercentile result{.value = unsorted_quantile(values, q), .interval = {}};
  if (const auto ranks = clustered_ranks(times, result.value, q, confidence)) {
    result.interval = Interval{value_at(values, ranks->low), value_at(values, ranks->high), confidence};
  }
  return result;
}

std::int64_t tail_iterations(double q, int processes, double confidence) {
  const std::int64_t needed = quantile_needs(q, confidence);
  if (processes < 2) return needed;
  const double degrees = processes - 1;
  const double design_effect = boost::math::quantile(boost::math::chi_squared(degrees), 0.95) / degrees;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(needed) * design_effect));
}

}  // namespace infermeter
