// Checklists of what is not a run.
#include <fmt/format.h>

#include <algorithm>

#include "infermeter/verdict/answers/checklist.hpp"
#include "infermeter/verdict/answers/layers_answers.hpp"

namespace infermeter {
namespace {

std::string counts(const std::vector<const ExpectationVerdict*>& verdicts, Outcome outcome) {
  const auto count = std::ranges::count(verdicts, outcome, [](const auto* one) { return one->outcome; });
  return fmt::format("{} of {} subjects", count, verdicts.size());
}

// Of one subject its reason; of several how many, and the first that is not well.
Check expectation_check(const RunRecord& record, const Expectation& expectation,
                        const std::vector<const ExpectationVerdict*>& verdicts) {
  Check check{.name = expectation.source.text, .outcome = {}, .detail = "applied to no subject"};
  if (verdicts.empty()) return check;
  const ExpectationVerdict* worst = verdicts.front();
  for (const Outcome outcome : {Outcome::inconclusive, Outcome::fail}) {
    const auto found = std::ranges::find(verdicts, outcome, [](const auto* one) { return one->outcome; });
    if (found != verdicts.end()) worst = *found;
  }
  check.outcome = worst->outcome;
  const std::string& label = record.plan.subjects.at(static_cast<std::size_t>(worst->subject)).label;
  if (verdicts.size() == 1) {
    check.detail = fmt::format("{}: {}", label, worst->reason);
  } else if (worst->outcome == Outcome::pass) {
    check.detail = counts(verdicts, Outcome::pass);
  } else {
    check.detail = fmt::format("{}, the first is {}: {}", counts(verdicts, worst->outcome), label, worst->reason);
  }
  return check;
}

Check drop_check(const Validation& validation) {
  Check check{.name = "accuracy drops no more than is allowed", .outcome = {}, .detail = "there are no labels"};
  if (!validation.accuracy) return check;
  check.outcome = outcome_of(*validation.accuracy);
  check.detail = check.outcome ? fmt::format("a drop of {:g} is allowed", *validation.accuracy->allowed)
                               : "no drop was named (--max-drop)";
  return check;
}

Check increase_check(const PerplexityChange& perplexity) {
  Check check{.name = "perplexity increases no more than is allowed", .outcome = outcome_of(perplexity), .detail = {}};
  check.detail = check.outcome ? fmt::format("an increase of {:g} is allowed", *perplexity.allowed)
                               : "no increase was named (--max-increase)";
  return check;
}

Check repeat_check(const Validation& validation) {
  Check check{.name = "the baseline repeats itself", .outcome = {}, .detail = "not tried"};
  if (validation.again_items == 0) return check;
  const auto repeats = [](const OutputDifference& o) {
    return o.comparable && o.max_absolute.value_or(0) == 0 && o.non_finite_apart == 0;
  };
  const auto& outputs = validation.again.outputs;
  const auto same = std::ranges::count_if(outputs, repeats);
  check.outcome = same == std::ssize(outputs) ? Outcome::pass : Outcome::inconclusive;
  check.detail = fmt::format("{} of {} outputs, run twice on {} items", same, outputs.size(), validation.again_items);
  return check;
}

Check agreement_check(const Validation& validation) {
  const auto& outputs = validation.outputs.outputs;
  const auto alike = std::ranges::count_if(
      outputs, [](const auto& o) { return o.comparable && o.within_tolerance && o.undecided.empty(); });
  Check check{.name = "outputs agree within their tolerance",
              .outcome = validation.outputs.agree       ? Outcome::pass
                         : validation.outputs.undecided ? Outcome::inconclusive
                                                        : Outcome::fail,
              .detail = fmt::format("{} of {} outputs, on {} items", alike, outputs.size(), validation.items.size())};
  // Where labels decide, outputs need not be alike.
  if (validation.accuracy && outcome_of(*validation.accuracy)) {
    check.outcome.reset();
    check.detail += "; labels decide";
  }
  return check;
}

Check partners_check(const LayerGrowth& growth) {
  const std::size_t alone = growth.reference_only.size() + growth.candidate_only.size();
  return {.name = "every tensor has a partner",
          .outcome = alone == 0 && !growth.tensors.empty() ? Outcome::pass : Outcome::inconclusive,
          .detail = fmt::format("{} matched, {} of the reference alone, {} of the candidate alone",
                                growth.tensors.size(), growth.reference_only.size(), growth.candidate_only.size())};
}

Check parting_check(const LayerGrowth& growth) {
  Check check{.name = "the two part nowhere", .outcome = {}, .detail = "no tensor has a partner"};
  if (growth.tensors.empty()) return check;
  const auto is_above_floor = [](const LayerDifference& tensor) {
    const auto error = growth_error(tensor);
    return error && *error > tensor.floor;
  };
  if (growth.jump) {
    check.outcome = Outcome::fail;
    check.detail = "they diverge at " + growth.tensors[*growth.jump].name;
  } else if (std::ranges::any_of(growth.tensors, is_above_floor)) {
    check.outcome = Outcome::inconclusive;
    check.detail = "the error grows beyond what rounding explains, nowhere at once";
  } else if (const std::size_t compared = compared_tensors(growth); compared < growth.tensors.size()) {
    check.outcome = Outcome::inconclusive;
    check.detail =
        fmt::format("{} of {} could not be compared", growth.tensors.size() - compared, growth.tensors.size());
  } else {
    check.outcome = Outcome::pass;
    check.detail = "nowhere beyond what rounding explains";
  }
  return check;
}

Check series_check(const char* name, const std::vector<const History*>& histories, Outcome otherwise,
                   bool (*is_well)(const History&)) {
  Check check{.name = name, .outcome = {}, .detail = "there is no series"};
  if (histories.empty()) return check;
  const auto well = std::ranges::count_if(histories, [&](const History* one) { return is_well(*one); });
  check.outcome = well == std::ssize(histories) ? Outcome::pass : otherwise;
  check.detail = fmt::format("{} of {} series", well, histories.size());
  return check;
}

}  // namespace

std::vector<Check> checklist(const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  std::vector<Check> checks;
  for (std::size_t i = 0; i < gate.expectations.size(); ++i) {
    std::vector<const ExpectationVerdict*> held;
    for (const ExpectationVerdict& one : verdict.verdicts) {
      if (one.expectation == i) held.push_back(&one);
    }
    checks.push_back(expectation_check(record, gate.expectations[i], held));
  }
  return checks;
}

std::vector<Check> checklist(const Validation& validation) {
  std::vector<Check> checks = {agreement_check(validation), drop_check(validation)};
  if (validation.perplexity) checks.push_back(increase_check(*validation.perplexity));
  checks.push_back(repeat_check(validation));
  return checks;
}

std::vector<Check> checklist(const LayersRecord& record) {
  return {parting_check(record.growth), partners_check(record.growth)};
}

std::vector<Check> checklist(const std::vector<const History*>& histories) {
  return {series_check("no series is worse than it was", histories, Outcome::fail,
                       [](const History& one) { return one.alarm() == nullptr; }),
          series_check("enough runs to look for changes", histories, Outcome::inconclusive,
                       [](const History& one) { return !one.too_few; })};
}

}  // namespace infermeter
