// Profile trials made of given times, for the tests of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

inline Samples samples_of(int process, const std::vector<double>& walls) {
  Samples samples;
  samples.process = process;
  samples.purpose = Purpose::profile;
  // All begin at 0, so that end - begin is the given duration bit for bit.
  samples.begin_s.assign(walls.size(), 0.0);
  samples.end_s = walls;
  return samples;
}

inline OperatorProfile profile_of(const std::vector<std::string>& names) {
  OperatorProfile profile;
  for (const std::string& name : names) profile.operators.emplace_back().name = name;
  return profile;
}

inline void add_event(OperatorProfile& profile, std::uint32_t iteration, std::uint32_t op, double begin_s,
                      double duration_s, std::uint32_t thread = 0) {
  profile.iteration.push_back(iteration);
  profile.op.push_back(op);
  profile.thread.push_back(thread);
  profile.begin_s.push_back(begin_s);
  profile.duration_s.push_back(duration_s);
}

}  // namespace infermeter
