#include "infermeter/run/time_left.hpp"

#include <algorithm>
#include <vector>

namespace infermeter {

std::optional<double> time_left_s(const Plan& plan, std::span<const Samples> ended, std::size_t next,
                                  std::span<const std::optional<double>> expected, std::size_t end) {
  struct Sum {
    double wall_s = 0;
    int count = 0;
  };
  std::vector<Sum> by_subject(plan.subjects.size());
  Sum all;
  for (const auto& trial : ended) {
    auto& sum = by_subject[static_cast<std::size_t>(trial.subject)];
    sum.wall_s += trial.wall_s;
    all.wall_s += trial.wall_s;
    ++sum.count;
    ++all.count;
  }
  double seconds = 0;
  for (std::size_t i = next; i < std::min(end, plan.order.size()); ++i) {
    const std::size_t subject = plan.order[i].subject;
    const Sum& own = by_subject[subject];
    const Sum& sum = own.count > 0 ? own : all;
    if (own.count == 0 && subject < expected.size() && expected[subject]) {
      seconds += *expected[subject];
    } else if (sum.count > 0) {
      seconds += sum.wall_s / sum.count;
    } else {
      return std::nullopt;
    }
  }
  return seconds;
}

}  // namespace infermeter
