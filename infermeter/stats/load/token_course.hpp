// How a time goes with a number of tokens: the gap between two tokens with the position in the answer, the time to the
// first token with the length of the prompt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infermeter/samples/generation/generation_record.hpp"
#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

struct CoursePoint {
  std::uint64_t first = 0, last = 0;  // tokens
  double tokens_mean = 0;             // of all times here
  std::uint64_t count = 0;            // times, of all processes
  // Geometric means over processes of their quantiles; p90 of those that have 10 times here.
  Estimate p50_s, p90_s;
};

struct TokenCourse {
  std::vector<CoursePoint> points;  // by tokens
  // Seconds per token: the slope of a straight line through a process's medians, each as heavy as it has times
  // (weighted least squares); mean over the processes that have two medians, t interval. It may be 0 or negative.
  Estimate growth_s;
};

// Of one subject: what each of its processes has.
[[nodiscard]] TokenCourse token_course(std::span<const std::vector<TimesOfTokens>> processes, const Coverage& coverage);

}  // namespace infermeter
