// How much of alpha each look at the data may spend, so that looking often does not raise the rate of false alarms.
#pragma once

#include <span>
#include <vector>

namespace infermeter {

// O'Brien–Fleming-like spending α*(t) = 2 (1 − Φ(z[α/2] / √t)), 0 < t <= 1 (Lan & DeMets, "Discrete sequential
// boundaries for clinical trials", Biometrika 70 (1983) 659–663).
[[nodiscard]] double spent_alpha(double alpha, double fraction);

// The nominal two-sided level of each look after `counts` of observations (ascending), which have spent `spent` in all
// (not descending, of (0, 1)); levels do not depend on later looks. By recursive integration of the joint density of
// the increments (Armitage, McPherson & Rowe, J. R. Statist. Soc. A 132 (1969) 235–244; Jennison & Turnbull, "Group
// Sequential Methods with Applications to Clinical Trials", 2000, ch. 19).
[[nodiscard]] std::vector<double> spending_levels(std::span<const int> counts, std::span<const double> spent);

}  // namespace infermeter
