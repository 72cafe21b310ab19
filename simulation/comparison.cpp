#include "simulation/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "infermeter/plan/plan.hpp"

namespace infermeter::study {
namespace {

std::vector<int> coin_order(int subjects, int pairs, std::uint64_t seed) {
  Plan plan;
  plan.subjects.resize(static_cast<std::size_t>(subjects));
  plan.processes = pairs;
  plan.seed = seed;
  plan.question.emplace();
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

std::vector<Times> draw_levels(const Family& family, const Comparison& comparison, const std::vector<int>& order,
                               SplitMix& random) {
  return by_subject(family.levels(random, static_cast<int>(order.size())), comparison, order);
}

std::vector<std::vector<Times>> draw_iterations(const Family& family, const Comparison& comparison,
                                                const std::vector<int>& order, SplitMix& random) {
  return by_subject(family.iterations(random, static_cast<int>(order.size())), comparison, order);
}

Times minus(const Times& candidate, const Times& baseline) {
  Times differences(baseline.size());
  std::ranges::transform(candidate, baseline, differences.begin(), [](double b, double a) { return b - a; });
  return differences;
}

Pairs pairs_of(const std::vector<Times>& levels, std::size_t candidate, const std::vector<int>& order) {
  Pairs pairs{minus(levels[candidate], levels[0]), {}};
  for (std::size_t first = 0; first < order.size(); first += levels.size()) {
    const auto block = std::span(order).subspan(first, levels.size());
    const auto seat_of = [&](std::size_t subject) { return std::ranges::find(block, static_cast<int>(subject)); };
    pairs.order.push_back(seat_of(candidate) > seat_of(0) ? 1 : -1);
  }
  return pairs;
}

std::vector<Pairs> draw_pairs_of_all(const Family& family, const Comparison& comparison, SplitMix& random) {
  const std::vector<int> order = seats(comparison, random);
  const std::vector<Times> levels = draw_levels(family, comparison, order, random);
  std::vector<Pairs> all;
  for (std::size_t candidate = 1; candidate < levels.size(); ++candidate) {
    all.push_back(pairs_of(levels, candidate, order));
  }
  return all;
}

Pairs draw_pairs(const Family& family, const Comparison& comparison, SplitMix& random) {
  return draw_pairs_of_all(family, comparison, random).front();
}

std::vector<CoinPairs> views_of(const std::vector<Pairs>& all) { return {all.begin(), all.end()}; }

}  // namespace infermeter::study
