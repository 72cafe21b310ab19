#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "simulation/blocks.hpp"
#include "simulation/comparison.hpp"
#include "simulation/methods.hpp"

namespace infermeter::study {
namespace {

constexpr Target most_alarms = at_most(0.06);
constexpr Target least_bias = {-0.0005, 0.0005};

const Comparison plain{};
const Comparison disturbed{.drift = 0.05, .odd_even = 0.002};

struct Outcomes {
  int alarms = 0;
  std::vector<double> estimates;  // at the last look
};

// A program against itself, decided as the product does.
Outcomes against_itself(const Family& family, const Comparison& comparison, const Effort& effort) {
  const std::string what = fmt::format("against itself {} {} {}", family.name, comparison.drift, comparison.odd_even);
  Outcomes outcomes;
  for (const Look& last : simulate(effort, what, [&](SplitMix& random) {
         return take_looks(draw_pairs(family, comparison, random), {}, false).back();
       })) {
    outcomes.alarms += has_direction({last}) ? 1 : 0;
    outcomes.estimates.push_back(last.estimate);
  }
  return outcomes;
}

// So many that the mean estimate is known to ± 0.03 %, but 60 times the usual at most.
Effort enough_for_bias(const std::vector<double>& estimates, const Effort& effort) {
  const double needed = moments_of(estimates).variance * std::pow(1.96 / 0.0003, 2);
  const double runs = std::clamp(needed, 2.0 * effort.runs, 60.0 * effort.runs);
  return {static_cast<int>(runs), effort.seed, effort.threads};
}

void add_false_alarms(const Family& family, const Comparison& comparison, const std::string& suffix,
                      const Effort& effort, Table& table) {
  const Outcomes first = against_itself(family, comparison, effort.times(2));
  const Effort enough = enough_for_bias(first.estimates, effort);
  const Outcomes all = against_itself(family, comparison, enough);
  table.figures.push_back(rate("false alarms" + suffix, family.name, most_alarms, all.alarms, enough.runs));
  table.figures.push_back(mean("bias" + suffix, family.name, least_bias, Unit::small_share, all.estimates));
}

Table ours(const Families& families, const Effort& effort) {
  Table table{
      .caption = "Looks after 8, 10, 12, 14, 16, 20 … 40 pairs in coin order, as `infermeter compare` takes them",
      .figures = {},
      .across = true};
  for (const Family& family : families) {
    add_false_alarms(family, plain, "", effort, table);
    add_false_alarms(family, disturbed, ", drift and odd/even bias", effort, table);
    for (const double second : {0.01, 0.02}) {
      const Outcomes ordered = against_itself(family, {.odd_even = second}, effort.times(2));
      table.figures.push_back(rate(fmt::format("false alarms, the second of a pair slower by {:g} %", 100 * second),
                                   family.name, most_alarms, ordered.alarms, effort.times(2).runs));
    }
  }
  return table;
}

struct Measured {
  std::vector<int> order;
  std::vector<std::vector<Times>> subjects;  // [subject][pair][iteration]
};

// A way to compare: the order in which processes run, and what is made of what was measured.
struct Way {
  std::string name;
  Order order;
  std::function<bool(const Measured&, SplitMix&)> alarm;
};

Pairs paired(const Measured& measured) {
  return pairs_of({levels_of(measured.subjects[0]), levels_of(measured.subjects[1])}, 1, measured.order);
}

const std::vector<Way>& ways() {
  const auto looks = [](const Measured& subjects, SplitMix&) {
    return has_direction(take_looks(paired(subjects), {}, false));
  };
  // Without a coin the order shows nothing.
  const auto orderless = [](const Measured& measured, SplitMix&) {
    return has_direction(take_looks({paired(measured).differences}, {}, false));
  };
  const auto welch = [](const Measured& measured, SplitMix&) {
    return welch_alarm(levels_of(measured.subjects[0]), levels_of(measured.subjects[1]));
  };
  static const std::vector<Way> all = {
      {"coin order, looks with spending (ours)", Order::coin, looks},
      {"coin order, every look at 5 %", Order::coin,
       [](const Measured& measured, SplitMix&) { return alarm_without_spending(paired(measured).differences); }},
      {"A B A B …, looks with spending", Order::alternating, orderless},
      {"coin order, Welch's t of process medians", Order::coin, welch},
      {"all of A, then all of B, Welch's t of process medians", Order::in_turn, welch},
      {"coin order, Mann–Whitney of all iterations", Order::coin,
       [](const Measured& measured, SplitMix&) {
         return pooled_rank_sum_alarm(measured.subjects[0], measured.subjects[1]);
       }},
      {"coin order, percentile bootstrap of all iterations", Order::coin,
       [](const Measured& measured, SplitMix& random) {
         return pooled_bootstrap_alarm(measured.subjects[0], measured.subjects[1], random);
       }},
  };
  return all;
}

Table other_ways(const Families& families, Comparison comparison, const std::string& caption, const Effort& effort) {
  Table table{.caption = caption, .figures = {}, .across = true};
  for (const Way& way : ways()) {
    comparison.order = way.order;
    for (const Family& family : families) {
      const int alarms = count(effort, caption + way.name + family.name, [&](SplitMix& random) {
        const std::vector<int> order = seats(comparison, random);
        return way.alarm({order, draw_iterations(family, comparison, order, random)}, random);
      });
      const bool is_ours = &way == &ways().front();
      table.figures.push_back(rate(way.name, family.name, is_ours ? most_alarms : Target{}, alarms, effort.runs));
    }
  }
  return table;
}

// The budget ended before the pairs that were planned: the last look spends what is left.
bool alarm_at_budget_end(const Family& family, int pairs, SplitMix& random) {
  return has_direction(take_looks(draw_pairs(family, {.pairs = pairs}, random), {}, true));
}

bool any_of_three(const Family& family, SplitMix& random) {
  const std::vector<Pairs> all = draw_pairs_of_all(family, {.candidates = 3}, random);
  return std::ranges::any_of(take_looks_together(views_of(all), {}, false), has_direction);
}

Table other_ends(const Families& families, const Effort& effort) {
  Table table{.caption = "Other ends of the same looks", .figures = {}, .across = true};
  const auto add = [&](const std::string& what, const auto& alarm) {
    for (const Family& family : families) {
      const int alarms = count(effort, what + family.name, [&](SplitMix& random) { return alarm(family, random); });
      table.figures.push_back(rate(what, family.name, most_alarms, alarms, effort.runs));
    }
  };
  add("the budget ends after 20 pairs",
      [](const Family& family, SplitMix& random) { return alarm_at_budget_end(family, 20, random); });
  add("the budget ends after 8 … 39 pairs, by chance", [](const Family& family, SplitMix& random) {
    const int pairs = 8 + static_cast<int>(32 * random.uniform());
    return alarm_at_budget_end(family, pairs, random);
  });
  add("three candidates against one baseline, any alarm", any_of_three);
  return table;
}

}  // namespace

Block false_alarms(const Families& families, const Effort& effort) {
  Block block{.number = 1,
              .title = "False alarms",
              .question = "How often is a program called faster or slower than itself?",
              .text = {},
              .tables = {}};
  block.text =
      "A program against itself, nominal 5 %. Once as it is, and once while the machine gets slower by 5 % over the "
      "whole "
      "run and every second process takes 0.2 % longer, whichever program it is of. Bias is the mean of the estimate "
      "at "
      "the last look; recorded processes differ so much that it takes many runs to see 0.05 %.";
  block.tables.push_back(ours(families, effort));
  block.tables.push_back(other_ends(families, effort));
  block.tables.push_back(other_ways(families, plain, "False alarms of other ways, 40 pairs of 20 iterations", effort));
  block.tables.push_back(other_ways(families, disturbed, "The same with drift and odd/even bias", effort));
  return block;
}

}  // namespace infermeter::study
