// Single iterations that were disturbed, distinguished from stretches in which the subject itself was slower.
#pragma once

#include <span>
#include <vector>

namespace infermeter {

// For each value, whether it is a spike: farther from the median of the 11 around it than 3 times the range between the
// 10th and the 90th percentile of such distances, among the 200 around it, and than `least`.
//
// Barrett et al. 2017 (steady_state.hpp) have the same window and fence, around the window's median. With that median a
// ramp hides its spikes, and the end of a ramp is one. They leave the first 200 iterations alone, so as not to take
// warm-up for outliers; their processes make 2,000 iterations and ours often 200 in all, so that the form protects
// warm-up instead: values that are far off from the very first on are no spikes, and neither are more than three in a
// row.
[[nodiscard]] std::vector<bool> find_spikes(std::span<const double> values, double least);

}  // namespace infermeter
