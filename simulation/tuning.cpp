#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "infermeter/plan/plan.hpp"
#include "infermeter/stats/comparison/race.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "simulation/blocks.hpp"

namespace infermeter::study {
namespace {

constexpr std::size_t raced_settings = 20;
using Gaps = std::array<double, raced_settings>;  // behind the best
constexpr Gaps some_best = {0.05, 0.0,  0.0,  0.01, 0.01, 0.01, 0.01, 0.02, 0.02, 0.02,
                            0.02, 0.03, 0.03, 0.03, 0.03, 0.05, 0.05, 0.05, 0.05, 0.05};
constexpr Gaps all_equal = {};

// Processes one after the other, as a machine runs them.
class Machine {
 public:
  Machine(const Family& family, const Gaps& gaps, int most, SplitMix& random)
      : levels_(family.levels(random, most)), gaps_(gaps) {}

  double run(std::size_t setting) { return levels_.at(next_++) + true_level(setting); }
  [[nodiscard]] double true_level(std::size_t setting) const { return std::log1p(gaps_.at(setting)); }
  [[nodiscard]] std::size_t processes() const { return next_; }

 private:
  Times levels_;
  Gaps gaps_;
  std::size_t next_ = 0;
};

using BlockOfRace = std::vector<std::optional<double>>;

// Those that `runs` says, each once, in random order.
template <class Runs>
BlockOfRace run_block(Machine& machine, const Runs& runs, SplitMix& random) {
  std::vector<std::size_t> order(raced_settings);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.bits() % i]);
  BlockOfRace values(raced_settings);
  for (const std::size_t setting : order) {
    if (runs(setting)) values[setting] = machine.run(setting);
  }
  return values;
}

struct RaceOutcome {
  bool is_within = false;    // the best that was reported is within the indifference of the true one
  bool has_dropped = false;  // a setting that is as good as the best was called worse
  bool lowest_is_within = false;
  double gain_error = 0;  // of the best against the default, from fresh pairs
  double lowest_gain_error = 0;
  double of_all = 0;  // processes, as a share of measuring each setting as long as the best
};

RaceOutcome race_once(const Family& family, const Gaps& gaps, SplitMix& random) {
  const Tuning usual;
  const int most = static_cast<int>(raced_settings) * (usual.race_blocks + usual.confirmation_pairs);
  Machine machine(family, gaps, most, random);
  const auto true_level = [&](std::size_t setting) { return machine.true_level(setting); };
  Race race(raced_settings, {.alpha = usual.alpha, .indifference = std::log1p(usual.indifference)});
  RaceOutcome outcome;
  for (int block = 0; block < usual.race_blocks && !(block > 0 && race.is_over()); ++block) {
    const BlockOfRace values = run_block(machine, [&](std::size_t i) { return race.takes_part(i); }, random);
    if (block == 0) {
      const auto lowest = static_cast<std::size_t>(std::ranges::min_element(values) - values.begin());
      outcome.lowest_is_within = true_level(lowest) <= std::log1p(usual.indifference);
      outcome.lowest_gain_error = *values[lowest] - *values[0] - (true_level(lowest) - true_level(0));
    }
    race.add(values);
  }
  const std::size_t best = *race.best();
  outcome.is_within = true_level(best) <= std::log1p(usual.indifference);
  outcome.of_all = static_cast<double>(machine.processes()) / static_cast<double>(race.blocks() * std::ssize(gaps));
  for (std::size_t i = 0; i < raced_settings; ++i) {
    if (gaps.at(i) == 0 && race.standing(i) == Standing::worse) outcome.has_dropped = true;
  }
  std::vector<double> differences;
  for (int pair = 0; pair < usual.confirmation_pairs; ++pair) {
    const BlockOfRace values = run_block(machine, [&](std::size_t i) { return i == 0 || i == best; }, random);
    differences.push_back(*values[best] - *values[0]);
  }
  outcome.gain_error = hodges_lehmann(differences) - (true_level(best) - true_level(0));
  return outcome;
}

void add_share(const std::string& what, const Family& family, Target target, const std::vector<RaceOutcome>& outcomes,
               bool RaceOutcome::* hit, Table& table) {
  const auto hits = std::ranges::count(outcomes, true, hit);
  table.figures.push_back(rate(what, family.name, target, static_cast<int>(hits), static_cast<int>(outcomes.size())));
}

void add_mean(const std::string& what, const Family& family, Target target, Unit unit,
              const std::vector<RaceOutcome>& outcomes, double RaceOutcome::* value, Table& table) {
  std::vector<double> values;
  for (const RaceOutcome& outcome : outcomes) values.push_back(outcome.*value);
  table.figures.push_back(mean(what, family.name, target, unit, values));
}

}  // namespace

Block tuning(const Families& families, const Effort& effort) {
  Block block{.number = 10,
              .title = "Tuning",
              .question = "Does the race find the best setting, and is the gain that is reported the true one?",
              .text = {},
              .tables = {}};
  block.text =
      "`infermeter tune` races 20 settings: two are the best, four each are 1, 2 and 3 % behind them, six 5 %, among "
      "them the default. Those within 2 % are as good. Beside it: the lowest of one process each.";
  Table table{.caption = "Races of at most 60 blocks, then 10 fresh pairs", .figures = {}, .across = true};
  for (const Family& family : families) {
    const auto outcomes = simulate(effort, "tuning " + family.name,
                                   [&](SplitMix& random) { return race_once(family, some_best, random); });
    add_share("the best that is reported is within 2 % of the best", family, at_least(0.95), outcomes,
              &RaceOutcome::is_within, table);
    add_share("a true best is called worse", family, at_most(0.05), outcomes, &RaceOutcome::has_dropped, table);
    add_mean("mean error of the gain", family, {.least = -0.002, .most = 0.002}, Unit::small_share, outcomes,
             &RaceOutcome::gain_error, table);
    // Recorded processes vary so much that 60 blocks cannot tell 5 % from nothing.
    const Target of_all = family.recorded ? Target{} : at_most(0.4);
    add_mean("processes, of those of measuring all as long", family, of_all, Unit::share, outcomes,
             &RaceOutcome::of_all, table);
    add_mean("mean error of the gain that the lowest of one process each shows", family, {}, Unit::small_share,
             outcomes, &RaceOutcome::lowest_gain_error, table);
    add_share("the lowest of one process each is within 2 % of the best", family, {}, outcomes,
              &RaceOutcome::lowest_is_within, table);
  }
  block.tables.push_back(std::move(table));
  Table equals{.caption = "Races of 20 equal settings", .figures = {}, .across = true};
  for (const Family& family : families) {
    const auto outcomes = simulate(effort, "tuning equals " + family.name,
                                   [&](SplitMix& random) { return race_once(family, all_equal, random); });
    add_share("one or another is called worse", family, {}, outcomes, &RaceOutcome::has_dropped, equals);
  }
  block.tables.push_back(std::move(equals));
  return block;
}

}  // namespace infermeter::study
