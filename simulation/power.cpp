#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>

#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "simulation/blocks.hpp"
#include "simulation/comparison.hpp"
#include "simulation/methods.hpp"

namespace infermeter::study {
namespace {

struct PowerOutcome {
  bool slower = false;
  int pairs = 0;
  double estimate = 0;
};

std::vector<PowerOutcome> power_outcomes(const Family& family, double effect, const Effort& effort) {
  return simulate(effort, fmt::format("power {} {}", family.name, effect), [&](SplitMix& random) {
    const Look last = take_looks(draw_pairs(family, {.effect = effect}, random), {}, false).back();
    return PowerOutcome{last.direction == Direction::slower, last.pairs, last.estimate};
  });
}

struct PowerCase {
  Family family;
  double effect;
  Target found, pairs;
};

void add_power(const PowerCase& one, const std::string& where, const Effort& effort, Table& table) {
  int found = 0;
  std::vector<double> pairs;
  std::vector<double> excess;
  for (const PowerOutcome& outcome : power_outcomes(one.family, one.effect, effort)) {
    pairs.push_back(outcome.pairs);
    if (!outcome.slower) continue;
    ++found;
    excess.push_back(outcome.estimate - std::log1p(one.effect));
  }
  const std::string effect = fmt::format("{:g} % slower: ", 100 * one.effect);
  table.figures.push_back(rate(effect + "found", where, one.found, found, effort.runs));
  table.figures.push_back(mean(effect + "pairs measured", where, one.pairs, Unit::pairs, pairs));
  if (excess.size() < 2) return;
  table.figures.push_back(mean(effect + "estimate less effect, where found", where, {}, Unit::small_share, excess));
}

// The same spread, but of modes that overlap: close to normal, where no test of 40 pairs finds 1 % more often than t's.
void add_overlapping(const Effort& effort, Table& table) {
  const Family family = bimodal_family(0.03, 0.01);
  const std::string where = "overlapping modes, pairs 2.1 %";
  add_power({family, 0.01, {}, {}}, where, effort, table);
  const int found = count(effort, "t of all pairs", [&](SplitMix& random) {
    return t_interval(draw_pairs(family, {.effect = 0.01}, random).differences, 0.95)->low > 0;
  });
  table.figures.push_back(rate("1 % slower: found by one t test of all 40 pairs", where, {}, found, effort.runs));
}

}  // namespace

Block power(const Families& families, const Effort& effort) {
  Block block{.number = 2,
              .title = "Power",
              .question = "How often is a real difference found, and after how many pairs?",
              .text = {},
              .tables = {}};
  block.text =
      "B takes longer, and up to 40 pairs are measured. The bimodal processes are those of block 1, whose pairs have a "
      "standard deviation of 2.1 %; with modes that overlap (1 %, and 15 % slower by 3 %) the same spread is nearly "
      "normal, "
      "and the edge that ranks have is gone. A run that stops early because the difference looked large has seen one "
      "that "
      "is larger than the truth on average; how much is reported.";
  Table table{.caption = "Found within 40 pairs", .figures = {}, .across = false};
  const Family pairs_of_one_percent = normal_family(0.01 / std::numbers::sqrt2);
  const Family bimodal = bimodal_family();
  const std::string normal_name = "normal, pairs 1 %";
  const std::string bimodal_name = "bimodal, pairs 2.1 %";
  add_power({pairs_of_one_percent, 0.005, at_least(0.80), {}}, normal_name, effort.times(2), table);
  add_power({pairs_of_one_percent, 0.01, at_least(0.99), {}}, normal_name, effort.times(2), table);
  add_power({pairs_of_one_percent, 0.02, {}, at_most(10)}, normal_name, effort, table);
  add_power({bimodal, 0.01, at_least(0.85), {}}, bimodal_name, effort.times(4), table);
  add_power({bimodal, 0.02, at_least(0.99), {}}, bimodal_name, effort.times(2), table);
  add_overlapping(effort.times(2), table);
  for (const Family& family : families) {
    if (family.recorded) add_power({family, 0.05, {}, {}}, family.name, effort, table);
  }
  block.tables.push_back(std::move(table));
  return block;
}

}  // namespace infermeter::study
