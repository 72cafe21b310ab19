// One change of level in a series of runs.
#pragma once

#include <cstddef>

namespace infermeter {

struct ChangePoint {
  std::size_t index = 0;  // the first run of the new level
  double change = 0;      // relative: exp(difference of mean logarithms) − 1; positive: larger
  double statistic = 0;   // |t| after the correction for autocorrelation
  double p = 1;           // of E-divisive's permutation test at this point; 1 if it is above alpha
  bool by_scan = false, by_e_divisive = false;
};

}  // namespace infermeter
