#include "study/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "infermeter/plan/plan.hpp"

namespace infermeter::study {
namespace {

std::vector<int> coin_order(int subjects, int pairs, std::uint64_t seed) {
  Plan plan;
  plan.subjects.resize(static_cast<std::size_t>(subjects));
  plan.processes = pairs;
  plan.seed = seed;
  order_trials(plan);
  std::vector<int> order;
  for (const PlannedTrial& trial : plan.order) order.push_back(static_cast<int>(trial.subject));
  return order;
}

// What is added to the logarithm of the process at `seat` of `seats`.
double shift(const Comparison& comparison, int subject, std::size_t seat, std::size_t seats) {
  const double way = static_cast<double>(seat) / static_cast<double>(seats - 1);
  return (subject > 0 ? std::log1p(comparison.effect) : 0) + std::log1p(comparison.drift * way) +
         (seat % 2 == 1 ? std::log1p(comparison.odd_even) : 0);
}

void add(Times& process, double amount) {
  for (double& time : process) time += amount;
}
void add(double& level, double amount) { level += amount; }

template <typename Process>
std::vector<std::vector<Process>> by_subject(std::vector<Process> processes, const Comparison& comparison,
                                             const std::vector<int>& order) {
  std::vector<std::vector<Process>> subjects(static_cast<std::size_t>(comparison.candidates) + 1);
  for (std::size_t seat = 0; seat < order.size(); ++seat) {
    add(processes[seat], shift(comparison, order[seat], seat, order.size()));
    subjects[static_cast<std::size_t>(order[seat])].push_back(std::move(processes[seat]));
  }
  return subjects;
}

}  // namespace

std::vector<int> seats(const Comparison& comparison, SplitMix& random) {
  const int subjects = comparison.candidates + 1;
  if (comparison.order == Order::coin) return coin_order(subjects, comparison.pairs, random.bits());
  std::vector<int> order;
  for (int seat = 0; seat < subjects * comparison.pairs; ++seat) {
    order.push_back(comparison.order == Order::alternating ? seat % subjects : seat / comparison.pairs);
  }
  return order;
}

std::vector<Times> draw_levels(const Family& family, const Comparison& comparison, SplitMix& random) {
  const std::vector<int> order = seats(comparison, random);
  return by_subject(family.levels(random, static_cast<int>(order.size())), comparison, order);
}

std::vector<std::vector<Times>> draw_iterations(const Family& family, const Comparison& comparison, SplitMix& random) {
  const std::vector<int> order = seats(comparison, random);
  return by_subject(family.iterations(random, static_cast<int>(order.size())), comparison, order);
}

Times minus(const Times& candidate, const Times& baseline) {
  Times differences(baseline.size());
  std::ranges::transform(candidate, baseline, differences.begin(), [](double b, double a) { return b - a; });
  return differences;
}

Times draw_differences(const Family& family, const Comparison& comparison, SplitMix& random) {
  const std::vector<Times> levels = draw_levels(family, comparison, random);
  return minus(levels[1], levels[0]);
}

}  // namespace infermeter::study
