#include <string>

#include "infermeter/stats/comparison/sequential.hpp"
#include "simulation/blocks.hpp"
#include "simulation/comparison.hpp"
#include "simulation/methods.hpp"

#include <numbers>

namespace infermeter::study {
namespace {

constexpr int looks = 200;  // after the third pair and every one that follows
const Design design{.until_resolved = true};

Table open_ended_alarms(const Families& families, const Effort& effort) {
  Table table{.caption = "False alarms in 200 looks", .figures = {}, .across = true};
  for (const Family& family : families) {
    const int hits = count(effort, "open-ended" + family.name, [&](SplitMix& random) {
      return has_direction(take_looks(draw_pairs(family, {.pairs = looks + 2}, random), design, false));
    });
    table.figures.push_back(rate("always-valid test (ours)", family.name, at_most(0.05), hits, effort.runs));
    const Comparison ordered{.pairs = looks + 2, .odd_even = 0.05};
    const int of_order = count(effort, "open-ended, order" + family.name, [&](SplitMix& random) {
      return has_direction(take_looks(draw_pairs(family, ordered, random), design, false));
    });
    table.figures.push_back(rate("always-valid test (ours), the second of a pair slower by 5 %", family.name,
                                 at_most(0.05), of_order, effort.runs));
  }
  for (const Family& family : families) {
    const int hits = count(effort, "t at every look" + family.name, [&](SplitMix& random) {
      return alarm_of_t_at_every_look(draw_pairs(family, {.pairs = looks + 2}, random).differences);
    });
    table.figures.push_back(rate("paired t test at 5 % after every pair", family.name, {}, hits, effort.runs));
  }
  return table;
}

Table stops(const Effort& effort) {
  Table table{.caption = "Where it stops, pairs with a standard deviation of 1 %", .figures = {}, .across = false};
  const Family family = normal_family(0.01 / std::numbers::sqrt2);
  for (const double effect : {0.02, 0.01}) {
    const auto pairs = simulate(effort, "stops" + std::to_string(effect), [&](SplitMix& random) {
      return static_cast<double>(
          take_looks(draw_pairs(family, {.pairs = 400, .effect = effect}, random), design, false).back().pairs);
    });
    const bool large = effect == 0.02;
    table.figures.push_back(mean(large ? "2 % slower: pairs measured" : "1 % slower: pairs measured", family.name,
                                 large ? at_most(9) : Target{}, Unit::pairs, pairs));
  }
  return table;
}

}  // namespace

Block open_ended(const Families& families, const Effort& effort) {
  Block block{.number = 4,
              .title = "Until resolved",
              .question = "What if one looks after every pair, for as long as one likes?",
              .text = {},
              .tables = {}};
  block.text =
      "`--until-resolved` looks after every pair from the third on. Its test is valid whenever one looks and whatever "
      "the "
      "noise, as the coins make it so.";
  block.tables.push_back(open_ended_alarms(families, effort.times(2)));
  block.tables.push_back(stops(effort));
  return block;
}

}  // namespace infermeter::study
