#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/test_pairs.hpp"
#include "simulation/blocks.hpp"
#include "simulation/comparison.hpp"
#include "simulation/methods.hpp"

namespace infermeter::study {
namespace {

constexpr double margin = 0.02;
constexpr int models = 50;

Design design_with(double share) { return {.margin = std::log1p(share)}; }

// What `infermeter gate` says of "no regression beyond 2%".
class NoRegression {
 public:
  NoRegression() {
    GateFile file;
    file.expectations.push_back({.that = {.text = "no regression beyond 2%", .file = "gate.toml"}});
    gate_ = std::move(make_gate(file, "gate.toml")).value();
    verdict_.subjects.resize(2);
    verdict_.comparison.emplace();
    PairedComparison& pairs = verdict_.comparison->primary.emplace_back();
    pairs.candidate = 1;
    pairs.metric = "latency_p50";
  }

  // Of a comparison that ended with this look.
  [[nodiscard]] Outcome operator()(const Look& last) const {
    Verdict verdict = verdict_;
    PairedComparison& pairs = verdict.comparison->primary.front();
    pairs.differences.resize(static_cast<std::size_t>(last.pairs));
    pairs.estimate = last.estimate;
    pairs.interval = last.interval;
    return outcome({.run = record_, .verdict = verdict});
  }

  // Of a run against a stored one.
  [[nodiscard]] Outcome operator()(const RunRecord& run, const RunRecord& baseline) const {
    const Verdict verdict = judge(run);
    return outcome({.run = run, .verdict = verdict, .baseline = &baseline, .baseline_name = "stored"});
  }

 private:
  [[nodiscard]] Outcome outcome(const GateEvidence& evidence) const {
    return judge_gate(gate_, evidence).verdicts.at(0).outcome;
  }

  Gate gate_;
  RunRecord record_ = test::record_with_question(2);
  Verdict verdict_;
};

struct GateCase {
  std::string program;
  double effect;
  std::vector<int> looks;
  double comparison_margin = margin;  // within which a comparison ends as equivalent
};

// pass, fail, inconclusive: how often.
std::vector<int> gate_outcomes(const Family& family, const GateCase& one, const Effort& effort) {
  const NoRegression rule;
  Design asked = design_with(one.comparison_margin);
  asked.looks = one.looks;
  std::vector<int> counts(3);
  for (const Outcome outcome : simulate(effort, "gate " + one.program + family.name, [&](SplitMix& random) {
         return rule(take_looks(draw_pairs(family, {.effect = one.effect}, random), asked, false).back());
       })) {
    ++counts[static_cast<std::size_t>(outcome)];
  }
  return counts;
}

Target most_false_fails(const Family& family) {
  if (family.recorded) return {};
  return at_most(family.name == "bimodal" ? 0.03 : 0.01);
}

void add_outcomes(const Families& families, const GateCase& one, const Effort& effort, Table& table) {
  for (const Family& family : families) {
    const std::vector<int> counts = gate_outcomes(family, one, effort);
    const auto add = [&](const std::string& what, Outcome outcome, Target target) {
      table.figures.push_back(
          rate(one.program + ": " + what, family.name, target, counts[static_cast<std::size_t>(outcome)], effort.runs));
    };
    add("fail", Outcome::fail, one.effect == 0 ? most_false_fails(family) : Target{});
    add("pass", Outcome::pass, {});
  }
}

Table verdicts(const Families& families, const Effort& effort) {
  Table table{.caption = "Verdicts with a margin of 2 %, up to 40 pairs; what neither passes nor fails is inconclusive",
              .figures = {},
              .across = true};
  const std::vector<int> usual = Design{}.looks;
  add_outcomes(families, {"unchanged", 0, usual}, effort.times(2), table);
  add_outcomes(families, {"unchanged, compared with a margin of 1 %", 0, usual, 0.01}, effort.times(2), table);
  for (const double effect : {0.01, 0.02, 0.03, 0.05}) {
    add_outcomes(families, {fmt::format("{:g} % slower", 100 * effect), effect, usual}, effort, table);
  }
  add_outcomes(families, {"1 % slower, one look after 40 pairs", 0.01, {40}}, effort, table);
  return table;
}

// --- what is not paired
// --------------------------------------------------------------------------------------------------

RunRecord run_of(const std::string& id, const std::vector<Times>& processes) {
  RunRecord record = test::record_with_question(1);
  record.id = id;
  record.finished = true;
  record.plan.question.reset();
  for (std::size_t process = 0; process < processes.size(); ++process) {
    Times times_s = processes[process];
    for (double& time : times_s) time = std::exp(time);
    record.trials.push_back(test::trial_with(0, static_cast<int>(process), times_s));
  }
  return record;
}

Table unpaired(const Families& families, const Effort& effort) {
  Table table{.caption = "Unchanged programs that fail where nothing is paired", .figures = {}, .across = true};
  const auto add = [&](const std::string& what, const auto& fails) {
    for (const Family& family : families) {
      const int hits = count(effort, what + family.name, [&](SplitMix& random) { return fails(family, random); });
      table.figures.push_back(rate(what, family.name, {}, hits, effort.runs));
    }
  };
  const NoRegression rule;
  add("10 processes against 10 of a stored run, of another time", [&](const Family& family, SplitMix& random) {
    const RunRecord before = run_of("before", family.iterations(random, 10));
    return rule(run_of("now", family.iterations(random, 10)), before) == Outcome::fail;
  });
  add("one process of each, fail above 2 %", [](const Family& family, SplitMix& random) {
    return draw_pairs(family, {.pairs = 1}, random).differences[0] > std::log1p(margin);
  });
  return table;
}

// --- several models
// ------------------------------------------------------------------------------------------------------

std::vector<Pairs> unchanged_models(const Family& family, SplitMix& random) {
  std::vector<Pairs> all;
  for (int i = 0; i < models; ++i) all.push_back(draw_pairs(family, {}, random));
  return all;
}

Table many_models(const Families& families, const Effort& effort) {
  Table table{.caption = "50 unchanged models, any of them called faster or slower", .figures = {}, .across = true};
  const auto add = [&](const std::string& what, Target target, const Effort& runs, const auto& alarm) {
    for (const Family& family : families) {
      const int hits =
          count(runs, what + family.name, [&](SplitMix& random) { return alarm(unchanged_models(family, random)); });
      table.figures.push_back(rate(what, family.name, target, hits, runs.runs));
    }
  };
  const auto together = [](const Design& asked) {
    return [asked](const std::vector<Pairs>& all) {
      return std::ranges::any_of(take_looks_together(views_of(all), asked, false), has_direction);
    };
  };
  add("together (Holm with spending)", at_most(0.06), effort, together(design_with(margin)));
  add("together, without a margin: nothing ends as equivalent", at_most(0.06), effort, together({}));
  const Effort few{std::max(20, effort.runs / 10), effort.seed, effort.threads};
  add("each by itself at 5 %, without a margin", {}, few, [](const std::vector<Pairs>& all) {
    return std::ranges::any_of(all, [](const Pairs& one) { return has_direction(take_looks(one, {}, false)); });
  });
  return table;
}

}  // namespace

Block gate(const Families& families, const Effort& effort) {
  Block block{.number = 5,
              .title = "Gate",
              .question = "How often does a gate fail what did not change, and pass what did?",
              .text = {},
              .tables = {}};
  block.text =
      "What `infermeter gate` says of \"no regression beyond 2%\" within a comparison with that margin: fail if the "
      "interval "
      "lies above 0 and reaches the margin, pass if it ends below the margin, inconclusive otherwise. A comparison "
      "ends with "
      "the first look that shows a direction: what is slower by less than the margin then often fails, and would pass "
      "with "
      "more pairs.";
  block.tables.push_back(verdicts(families, effort));
  block.tables.push_back(unpaired(families, effort));
  block.tables.push_back(many_models(families, effort));
  return block;
}

}  // namespace infermeter::study
