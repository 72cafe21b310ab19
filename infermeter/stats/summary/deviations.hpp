// How far each of several runs of the same thing lies from what they have in common.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

struct Deviation {
  double value = 0;                  // exp(m_r - c) - 1: 0.02 is 2 % above the centre
  std::optional<Interval> interval;  // nullopt: a run with fewer than two processes
};

// `runs[r]`: one positive value per process of run r; at least two runs, none empty. The centre c is the mean of the
// runs' mean logarithms m_r, so that every run counts alike. d_r = m_r - c is a linear contrast with coefficients
// 1 - 1/R for run r and -1/R for the others; its variance is Σ a_q² s_q²/k_q, its degrees of freedom are those of
// Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2 (1946)
// 110–114. The intervals hold together with `confidence` (Bonferroni).
[[nodiscard]] std::vector<Deviation> deviations_from_centre(std::span<const std::vector<double>> runs,
                                                            double confidence);

}  // namespace infermeter
