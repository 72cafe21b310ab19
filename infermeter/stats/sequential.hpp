// The decision of a paired comparison while pairs come in: looks with spending, or an always-valid test.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "infermeter/stats/summary.hpp"

namespace infermeter {

// What a comparison is asked. Differences and margin are of logarithms, candidate less baseline; positive: slower.
struct Design {
  double alpha = 0.05;
  double margin = 0;                             // log scale: log1p of 1 %; 0: only the direction is asked for
  std::vector<int> looks = {8, 16, 24, 32, 40};  // ascending; the last one is max_pairs
  bool until_resolved = false;  // the always-valid test after every pair from the third on; looks are not used
};
// 8, 16, 24 … and max_pairs itself.
[[nodiscard]] std::vector<int> usual_looks(int max_pairs);

enum class Direction { faster, slower, equivalent, unresolved };
[[nodiscard]] std::string_view to_string(Direction direction);

struct Look {
  int pairs = 0;
  double level = 0;                  // nominal two-sided level spent here; until_resolved: alpha
  double p = 1;                      // exact signed-rank; until_resolved: min(1, 1 / E)
  double estimate = 0;               // Hodges–Lehmann; until_resolved: mean
  std::optional<Interval> interval;  // repeated interval: covers at all looks together with 1 - alpha, its `confidence`
  Direction direction = Direction::unresolved;
};

// What the pairs so far say. faster/slower: the interval excludes 0, which without ties and zeros is p <= level;
// equivalent: it lies within ± margin (and margin > 0) and does not exclude 0. A look that resolves is the last one:
// later pairs are not looked at, and what it said stays as pairs come in. `ended`: no more will come (budget); where
// nothing is resolved, a last look at all pairs spends what is left, in place of a planned look there. Fewer than six
// cannot resolve anything at 5 %: no interval.
[[nodiscard]] std::vector<Look> take_looks(std::span<const double> differences, const Design& design, bool ended);

// log E_n of the t mixture: −ln(1 + n g)/2 − (n/2)[ln(1 + t²/((n−1)(1+n g))) − ln(1 + t²/(n−1))], g = 1 (Wang & Ramdas,
// "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance", Sequential Analysis 44
// (2025) 56–110, arXiv 2310.03722, Theorem 4.9). n >= 3; 0 where there is no spread and no difference.
[[nodiscard]] double log_e_value(std::span<const double> differences, double g = 1);
// All means that the e-value does not reject at alpha.
[[nodiscard]] std::optional<Interval> e_interval(std::span<const double> differences, double alpha, double g = 1);

// The smallest effect that `pairs` pairs of this standard deviation show with 80 % power at 5 %: (t[.975] + t[.80]) s /
// √n, t with n − 1 degrees of freedom.
[[nodiscard]] double minimum_detectable_effect(double standard_deviation, int pairs);
// The least pairs in all that show an effect of this size so; at least six, below which the signed-rank test shows
// nothing at 5 %. nullopt: more than a million.
[[nodiscard]] std::optional<int> pairs_needed(double standard_deviation, double effect);

// Adjusted p values, in the order given: Holm, "A simple sequentially rejective multiple test procedure", Scand. J.
// Statist. 6 (1979) 65–70; Benjamini & Hochberg, J. R. Statist. Soc. B 57 (1995) 289–300.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

// Looks of several candidates against one baseline with the family-wise error held at design.alpha: each candidate is
// tested with spending for alpha / (candidates not yet resolved by direction); whoever excludes 0 leaves its share to
// the others, at that look and the earlier ones (Maurer & Bretz, Stat. Biopharm. Res. 5 (2013) 311–320; Ye et al.,
// Stat. Med. 32 (2013) 1112–1124). One candidate: take_looks. Candidates may have different numbers of pairs.
[[nodiscard]] std::vector<std::vector<Look>> take_looks_together(std::span<const std::vector<double>> differences,
                                                                 const Design& design, bool ended);

}  // namespace infermeter
