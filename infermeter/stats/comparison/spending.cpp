#include "infermeter/stats/comparison/spending.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include <boost/math/quadrature/gauss.hpp>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/distributions/normal.hpp"
#include "infermeter/stats/summary/remembered.hpp"

namespace infermeter {
namespace {

// What is left of the distribution of the statistic Z after some looks, having crossed none of their bounds, as point
// masses: those of a quadrature over z >= 0, since it is symmetric.
struct Remaining {
  std::vector<double> z = {0};
  std::vector<double> mass = {0.5};  // nothing observed yet: all of it at 0
};

// From Z at s observations to Z at t: √t Z_t − √s Z_s is normal with variance t − s, and independent of what was
// before.
struct Step {
  Step(double s, double t) : after(std::sqrt(t)), before(std::sqrt(s)), added(std::sqrt(t - s)) {}

  [[nodiscard]] double standardised(double z_after, double z_before) const {
    return (z_after * after - z_before * before) / added;
  }
  // The spread that the step gives to Z at t.
  [[nodiscard]] double deviation() const { return added / after; }

  double after, before, added;
};

// P(no bound crossed before, |Z| > bound now).
double crossing(const Remaining& before, const Step& step, double bound) {
  double sum = 0;
  for (std::size_t i = 0; i < before.z.size(); ++i) {
    const double tails =
        normal_tail(step.standardised(bound, before.z[i])) + normal_tail(step.standardised(bound, -before.z[i]));
    sum += before.mass[i] * tails;
  }
  return 2 * sum;
}

// The density of Z now where no bound was crossed before.
double density(const Remaining& before, const Step& step, double z) {
  double sum = 0;
  for (std::size_t i = 0; i < before.z.size(); ++i) {
    const double kernels =
        normal_density(step.standardised(z, before.z[i])) + normal_density(step.standardised(z, -before.z[i]));
    sum += before.mass[i] * kernels;
  }
  return sum / step.deviation();
}

// The bound with crossing(bound) = spend. The density is log-concave (truncating and adding normal noise keep it so),
// hence so is its tail, and Newton's method on its logarithm comes down to the root from the right without passing it.
// The one start that cannot be left of the root: the bound if there had been no look before.
double bound_that_spends(const Remaining& before, const Step& step, double spend) {
  double low = 0;
  double high = normal_tail_quantile(spend / 2) + 1e-9;
  double bound = high;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const double crossed = crossing(before, step, bound);
    (crossed > spend ? low : high) = bound;
    double next = bound + std::log(crossed / spend) * crossed / (2 * density(before, step, bound));
    // Where the tail has no digits left, halving.
    if (!(next >= low && next <= high)) next = (low + high) / 2;
    const bool settled = std::abs(next - bound) <= 1e-13 * (1 + bound);
    bound = next;
    if (settled) break;
  }
  return bound;
}

// Gauss–Legendre with 15 nodes on panels five times as wide as the narrowest bell that is integrated over: the levels
// are right to 1e-12. levels.
Remaining not_crossed(const Remaining& before, const Step& step, double bound, const Step& next) {
  using Rule = boost::math::quadrature::gauss<double, 15>;
  const double narrowest = std::min(step.deviation(), next.added / next.before);
  const auto panels = std::max(1.0, std::ceil(bound / (5 * narrowest)));
  const double half = bound / panels / 2;
  Remaining after{{}, {}};
  const auto add = [&](double z, double weight) {
    after.z.push_back(z);
    after.mass.push_back(weight * half * density(before, step, z));
  };
  for (double panel = 0; panel < panels; ++panel) {
    const double centre = (2 * panel + 1) * half;
    for (std::size_t i = 0; i < Rule::abscissa().size(); ++i) {
      const double offset = Rule::abscissa()[i] * half;
      add(centre + offset, Rule::weights()[i]);
      if (offset > 0) add(centre - offset, Rule::weights()[i]);
    }
  }
  return after;
}

// What each look may add to the probability of a false alarm.
std::vector<double> increments(std::span<const double> spent) {
  std::vector<double> result;
  double before = 0;
  for (const double now : spent) {
    result.push_back(std::max(0.0, now - before));
    before = now;
  }
  return result;
}

std::vector<double> integrated_levels(std::span<const int> counts, std::span<const double> spent) {
  std::vector<double> levels = increments(spent);
  Remaining remaining;
  double last_look = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    // A look that spends next to nothing: hardly ever crossed, so that it is as if it had not been.
    if (levels[k] < 1e-17) continue;
    const double count = counts[k];
    const Step step(last_look, count);
    const double bound = bound_that_spends(remaining, step, levels[k]);
    levels[k] = 2 * normal_tail(bound);
    if (k + 1 < counts.size()) remaining = not_crossed(remaining, step, bound, Step(count, counts[k + 1]));
    last_look = count;
  }
  return levels;
}

}  // namespace

double spent_alpha(double alpha, double fraction) {
  INFERMETER_CHECK(alpha > 0 && alpha < 1 && fraction > 0 && fraction <= 1);
  if (fraction == 1) return alpha;
  return 2 * normal_tail(normal_tail_quantile(alpha / 2) / std::sqrt(fraction));
}

std::vector<double> spending_levels(std::span<const int> counts, std::span<const double> spent) {
  INFERMETER_CHECK(counts.size() == spent.size());
  INFERMETER_CHECK(std::ranges::adjacent_find(counts, std::ranges::greater_equal()) == counts.end());
  INFERMETER_CHECK(counts.empty() || counts.front() > 0);
  // A question is looked at many times, and each look asks for the same levels.
  thread_local Remembered<std::pair<std::vector<int>, std::vector<double>>, std::vector<double>> known;
  return known.get({{counts.begin(), counts.end()}, {spent.begin(), spent.end()}},
                   [&] { return integrated_levels(counts, spent); });
}

}  // namespace infermeter
