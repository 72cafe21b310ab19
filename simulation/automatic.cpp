#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "infermeter/plan/plan.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/rounds/enough_rounds.hpp"
#include "infermeter/verdict/test_pairs.hpp"
#include "simulation/blocks.hpp"
#include "simulation/comparison.hpp"

namespace infermeter::study {
namespace {

constexpr int most_rounds = 20;
constexpr double usual_s = 0.01;

struct Case {
  std::string what;
  Comparison comparison{};
  double tick_s = 0;  // of the clock; 0: exact
};

RunRecord automatic_run(int subjects) {
  RunRecord record = test::record_with_question(subjects, most_rounds);
  record.plan.question.reset();
  record.plan.automatic.processes = true;
  record.plan.budget_s = 1e9;
  return record;
}

// As `infermeter run` orders its rounds.
std::vector<int> seats_of_run(Plan plan, SplitMix& random) {
  plan.seed = random.bits();
  order_trials(plan);
  std::vector<int> order;
  for (const PlannedTrial& trial : plan.order) order.push_back(static_cast<int>(trial.subject));
  return order;
}

double seen(double log_level, double tick_s) {
  const double time_s = usual_s * std::exp(log_level);
  return tick_s > 0 ? std::round(time_s / tick_s) * tick_s : time_s;
}

struct RunOutcome {
  int rounds = 0;
  bool covers = true;      // the first candidate's ratio
  bool any_alarm = false;  // a candidate is called faster or slower
  bool is_decided = true;  // every candidate
};

RunOutcome outcome_of(const RunRecord& record, int rounds, double truth) {
  const Verdict verdict = judge(record);
  RunOutcome outcome{.rounds = rounds};
  for (const SubjectVerdict& subject : verdict.subjects) {
    if (!subject.baseline) continue;
    outcome.any_alarm =
        outcome.any_alarm || subject.direction == Direction::faster || subject.direction == Direction::slower;
    outcome.is_decided = outcome.is_decided && subject.direction != Direction::unresolved;
  }
  const auto& interval = verdict.subjects.at(1).ratios.at(0).estimate.interval;
  outcome.covers = interval && interval->low <= 1 / truth && 1 / truth <= interval->high;
  return outcome;
}

RunOutcome run_once(const Family& family, const Case& one, SplitMix& random) {
  RunRecord record = automatic_run(one.comparison.candidates + 1);
  const std::vector<int> order = seats_of_run(record.plan, random);
  const auto levels = draw_levels(family, one.comparison, order, random);
  for (int round = 0; round < most_rounds && !has_enough_rounds(record); ++round) {
    for (std::size_t subject = 0; subject < levels.size(); ++subject) {
      const double time_s = seen(levels[subject][static_cast<std::size_t>(round)], one.tick_s);
      record.trials.push_back(test::trial_with(static_cast<int>(subject), round, std::vector<double>(6, time_s)));
    }
  }
  record.finished = true;
  const auto rounds = static_cast<int>(record.trials.size() / levels.size());
  return outcome_of(record, rounds, 1 + one.comparison.effect);
}

Comparison rounds_with(double effect, double drift = 0, int candidates = 1) {
  return {.pairs = most_rounds, .effect = effect, .drift = drift, .candidates = candidates};
}

std::vector<Case> cases_of_one() {
  return {{"equal", rounds_with(0)},
          {"equal, the machine slows down by 5 %", rounds_with(0, 0.05)},
          {"equal, a clock with ticks of 0.5 %", rounds_with(0), 0.005 * usual_s},
          {"1 % slower", rounds_with(0.01)},
          {"5 % slower", rounds_with(0.05)}};
}

void add_rate(const std::string& what, const Family& family, Target target, const std::vector<RunOutcome>& outcomes,
              bool RunOutcome::* hit, Table& table) {
  const auto hits = std::ranges::count(outcomes, true, hit);
  table.figures.push_back(rate(what, family.name, target, static_cast<int>(hits), static_cast<int>(outcomes.size())));
}

Table of_one_candidate(const Families& families, const Effort& effort) {
  Table table{.caption = "Two subjects", .figures = {}, .across = true};
  for (const Case& one : cases_of_one()) {
    for (const Family& family : families) {
      const auto outcomes = simulate(effort, "automatic " + one.what + family.name,
                                     [&](SplitMix& random) { return run_once(family, one, random); });
      add_rate(one.what + ": the interval at the end covers", family, at_least(0.94), outcomes, &RunOutcome::covers,
               table);
      if (one.comparison.effect == 0) {
        add_rate(one.what + ": called faster or slower", family, at_most(0.06), outcomes, &RunOutcome::any_alarm,
                 table);
      }
      add_rate(one.what + ": decided", family, {}, outcomes, &RunOutcome::is_decided, table);
      std::vector<double> rounds;
      for (const RunOutcome& outcome : outcomes) rounds.push_back(outcome.rounds);
      table.figures.push_back(mean(one.what + ": rounds", family.name, {}, Unit::count, rounds));
    }
  }
  return table;
}

Table of_matrices(const Families& families, const Effort& effort) {
  Table table{
      .caption = "Equal subjects, any of them called faster or slower than the first", .figures = {}, .across = true};
  for (const int candidates : {1, 3, 7}) {
    const Case one{fmt::format("{} subjects", candidates + 1), rounds_with(0, 0, candidates)};
    for (const Family& family : families) {
      const auto outcomes = simulate(effort, "matrix " + one.what + family.name,
                                     [&](SplitMix& random) { return run_once(family, one, random); });
      add_rate(one.what, family, at_most(0.06), outcomes, &RunOutcome::any_alarm, table);
    }
  }
  return table;
}

}  // namespace

Block automatic(const Families& families, const Effort& effort) {
  Block block{.number = 9,
              .title = "Automatic processes",
              .question = "Are the intervals of a run honest that ends when it has seen enough?",
              .text = {},
              .tables = {}};
  block.text =
      "`infermeter run` looks after 5, 8, 12 and 20 rounds and ends when every answer is decided, or known within 2 %. "
      "Its intervals are wider for these looks, and for the number of subjects.";
  block.tables.push_back(of_one_candidate(families, effort));
  block.tables.push_back(of_matrices(families, effort));
  return block;
}

}  // namespace infermeter::study
