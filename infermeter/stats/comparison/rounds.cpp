#include "infermeter/stats/comparison/rounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <ranges>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/spending.hpp"

namespace infermeter {
namespace {

constexpr std::array looks = {kFirstLook, 8, 12, kMostRounds};
constexpr int max_rounds_predicted = 1000;

// Pocock-like: early looks may spend, because a run that ends early is what is wanted.
double spent_by(int rounds, double alpha) {
  const double fraction = std::min(1.0, static_cast<double>(rounds) / kMostRounds);
  return alpha * std::log1p((std::numbers::e - 1) * fraction);
}

// Half the width of Student's interval, in standard deviations of one replication.
double half_width_factor(int n, double level) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(n - 1), level / 2)) / std::sqrt(n);
}

// The fewest above n, and at most `most`, with which it is at most `factor`.
std::optional<int> fewest_above(int n, int most, double level, double factor) {
  if (n >= most) return std::nullopt;
  // The more, the narrower.
  const auto wanted = std::views::iota(n + 1, most + 1);
  const auto is_too_wide = [&](int count) { return !(half_width_factor(count, level) <= factor); };
  const auto enough = std::ranges::partition_point(wanted, is_too_wide);
  return enough == wanted.end() ? std::nullopt : std::optional(*enough);
}

}  // namespace

std::optional<int> replications_for(double share, int n, double confidence, int most) {
  INFERMETER_CHECK(n >= 2 && share >= 0 && confidence > 0 && confidence < 1);
  const double level = 1 - confidence;
  // The same width is reached, whatever the last digit says.
  return fewest_above(n, most, level, half_width_factor(n, level) * share * (1 + 1e-9));
}

bool is_round_look(int rounds) { return std::ranges::find(looks, rounds) != looks.end(); }

double round_level(int rounds, double alpha, bool ended) {
  INFERMETER_CHECK(alpha > 0 && alpha < 1);
  if (rounds < 2) return alpha;
  std::vector<int> counts;
  std::vector<double> spent;
  for (const int look : looks) {
    if (look >= rounds) break;
    counts.push_back(look);
    spent.push_back(spent_by(look, alpha));
  }
  counts.push_back(rounds);
  spent.push_back(ended ? alpha : spent_by(rounds, alpha));
  return spending_levels(counts, spent).back();
}

std::optional<int> more_rounds(const Interval& interval, int rounds, double level, double target) {
  INFERMETER_CHECK(rounds >= 2 && target > 0 && interval.low > 0);
  const double half_width = std::log(interval.high / interval.low) / 2;
  const double deviation = half_width / half_width_factor(rounds, level);
  const auto wanted = fewest_above(rounds, rounds + max_rounds_predicted, 1 - interval.confidence, target / deviation);
  return wanted ? std::optional(*wanted - rounds) : std::nullopt;
}

}  // namespace infermeter
