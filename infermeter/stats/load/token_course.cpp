#include "infermeter/stats/load/token_course.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "infermeter/stats/summary/process_interval.hpp"

namespace infermeter {
namespace {

struct CourseBin {
  CoursePoint point;
  double tokens = 0;
  std::vector<double> p50{}, p90{};  // of processes
};

Estimate without_value(std::string note) {
  Estimate none;
  none.note = std::move(note);
  return none;
}

Estimate course_estimate(const std::vector<double>& values, const Centre& centre, std::uint64_t count) {
  return {.value = centre.value,
          .interval = centre.interval,
          .n = static_cast<std::int64_t>(count),
          .processes = static_cast<int>(values.size()),
          .method = centre.geometric ? "geometric mean over processes; t interval on logarithms"
                                     : "mean over processes; t interval",
          .note = values.size() < 2 ? "needs 2 processes for an interval" : ""};
}

Estimate time_of(const std::vector<double>& values, std::uint64_t count, const Coverage& coverage) {
  if (values.empty()) return without_value("needs 10 times in a process");
  return course_estimate(values, covering(centre_of(values, coverage.of_processes), coverage), count);
}

// nullopt: all medians are of one number of tokens.
std::optional<double> slope_of(const std::vector<TimesOfTokens>& medians) {
  double weight = 0, x_mean = 0, y_mean = 0;
  for (const TimesOfTokens& each : medians) {
    const auto own = static_cast<double>(each.count);
    weight += own;
    x_mean += own / weight * (each.tokens_mean - x_mean);
    y_mean += own / weight * (each.p50_s - y_mean);
  }
  double squares = 0, products = 0;
  for (const TimesOfTokens& each : medians) {
    const double from_mean = each.tokens_mean - x_mean;
    squares += static_cast<double>(each.count) * from_mean * from_mean;
    products += static_cast<double>(each.count) * from_mean * (each.p50_s - y_mean);
  }
  return medians.size() > 1 && squares > 0 ? std::optional(products / squares) : std::nullopt;
}

Estimate growth_of(std::span<const std::vector<TimesOfTokens>> processes, const Coverage& coverage) {
  std::vector<double> slopes;
  std::uint64_t count = 0;
  for (const auto& process : processes) {
    const auto slope = slope_of(process);
    if (!slope) continue;
    slopes.push_back(*slope);
    for (const TimesOfTokens& each : process) count += each.count;
  }
  if (slopes.empty()) return without_value("needs two numbers of tokens");
  return course_estimate(slopes, covering(arithmetic_centre_of(slopes, coverage.of_processes), coverage), count);
}

}  // namespace

TokenCourse token_course(std::span<const std::vector<TimesOfTokens>> processes, const Coverage& coverage) {
  std::map<std::uint64_t, CourseBin> all;
  for (const auto& process : processes) {
    for (const TimesOfTokens& times : process) {
      CourseBin& here = all[times.first];
      here.point.first = times.first;
      here.point.last = times.last;
      here.point.count += times.count;
      here.tokens += times.tokens_mean * static_cast<double>(times.count);
      here.p50.push_back(times.p50_s);
      if (times.p90_s) here.p90.push_back(*times.p90_s);
    }
  }
  TokenCourse course;
  for (auto& [first, here] : all) {
    here.point.tokens_mean = here.tokens / static_cast<double>(here.point.count);
    here.point.p50_s = time_of(here.p50, here.point.count, coverage);
    here.point.p90_s = time_of(here.p90, here.point.count, coverage);
    course.points.push_back(std::move(here.point));
  }
  course.growth_s = growth_of(processes, coverage);
  return course;
}

}  // namespace infermeter
