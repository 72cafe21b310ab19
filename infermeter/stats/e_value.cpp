#include <cmath>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/moments.hpp"
#include "infermeter/stats/sequential.hpp"

namespace infermeter {

// Theorem 4.9 of the paper has G = √(c²/(n + c²)) ((n + c²) V / ((n + c²) V − S²))^(n/2), S = Σ d, V = Σ d², for
// effects µ/σ drawn from a normal distribution with variance c⁻² = g. With S = n x̄ and V = (n − 1) s² + n x̄² the
// quotient is (1 + t²/(n − 1)) / (1 + t²/((n − 1)(1 + n g))).
double log_e_value(std::span<const double> differences, double g) {
  INFERMETER_CHECK(differences.size() >= 3 && g > 0);
  const Moments moments = moments_of(differences);
  const auto n = static_cast<double>(moments.count);
  const double shrinkage = std::log1p(n * g);
  if (moments.variance == 0) return moments.mean == 0 ? 0 : (n - 1) / 2 * shrinkage;  // the limit for t → ∞
  const double q = n * moments.mean * moments.mean / moments.variance / (n - 1);
  return -shrinkage / 2 - n / 2 * (std::log1p(q / (1 + n * g)) - std::log1p(q));
}

// E < 1/α where (1 + q/(1 + n g)) / (1 + q) > ρ = (α²/(1 + n g))^(1/n), q = t²/(n − 1). The left side falls from 1 to
// 1/(1 + n g) as t grows: if ρ is not above that, no mean is ever rejected; else q < (1 − ρ) / (ρ − 1/(1 + n g)).
std::optional<Interval> e_interval(std::span<const double> differences, double alpha, double g) {
  INFERMETER_CHECK(differences.size() >= 3 && alpha > 0 && alpha < 1 && g > 0);
  const Moments moments = moments_of(differences);
  const auto n = static_cast<double>(moments.count);
  const double least = 1 / (1 + n * g);
  const double rho = std::pow(alpha * alpha * least, 1 / n);
  if (rho <= least) return std::nullopt;
  const double q = (1 - rho) / (rho - least);
  const double half_width = std::sqrt(q * (n - 1) * moments.variance / n);
  return Interval{moments.mean - half_width, moments.mean + half_width, 1 - alpha};
}

}  // namespace infermeter
