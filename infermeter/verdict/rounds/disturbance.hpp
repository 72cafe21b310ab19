// What disturbed trials, by their noise records.
#pragma once

#include <span>
#include <string>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Throttled, robbed of more than 2 % of its time, or beside others that used more than half a processor: what
// --drop-disturbed leaves out.
[[nodiscard]] bool is_disturbed(const NoiseRecord& noise);

struct Disturbance {
  bool is_grave = false;  // a trial is disturbed in that sense, or other load was reported for half of the trials
  std::string text{};     // "2 of 3 processes: other programs used 41 % …"; empty: nothing was reported
};
// By foreign load, steal and throttling.
[[nodiscard]] Disturbance disturbance_of(std::span<const Samples> trials);

}  // namespace infermeter
