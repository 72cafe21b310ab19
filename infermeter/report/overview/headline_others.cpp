// Headlines of gates and of variants.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "infermeter/report/gate/text.hpp"
#include "infermeter/report/overview/headline.hpp"
#include "infermeter/report/run/recommendations.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t findings_shown = 2;
using Kind = Recommendation::Kind;

Outcome outcome_of_all(const GateVerdict& verdict) {
  if (verdict.failed > 0) return Outcome::fail;
  return verdict.inconclusive > 0 ? Outcome::inconclusive : Outcome::pass;
}

const Recommendation* found_in(const VariantFigures& one, std::initializer_list<Kind> kinds) {
  const auto found = std::ranges::find_if(one.recommendations, [&](const Recommendation& each) {
    return std::ranges::find(kinds, each.kind) != kinds.end();
  });
  return found == one.recommendations.end() ? nullptr : &*found;
}

bool keeps_outputs(const VariantFigures& one) {
  return found_in(one, {Kind::outputs_differ, Kind::outputs_undecided, Kind::accuracy_lost, Kind::accuracy_unclear}) ==
         nullptr;
}

// Where it gains most; null: it is not shown to be faster at any batch size.
const Recommendation* most_faster(const VariantFigures& one) {
  const Recommendation* most = nullptr;
  for (const Recommendation& each : one.recommendations)
    if (each.kind == Kind::faster && (most == nullptr || each.value > most->value)) most = &each;
  return most;
}

// Of those that are shown to be faster than the baseline, at any batch size; null: none is.
template <class Keep>
const VariantFigures* fastest_of(const VariantsFigures& figures, Keep keep) {
  const VariantFigures* best = nullptr;
  double most = 0;
  for (const VariantFigures& one : figures.variants) {
    const Recommendation* faster = most_faster(one);
    if (faster == nullptr || !keep(one) || faster->value <= most) continue;
    best = &one;
    most = faster->value;
  }
  return best;
}

// "int8@openvino: 3.71x faster than baseline, 3.9x smaller model, Outputs differ beyond tolerance (max 0.22)"
std::string described(const RunRecord& record, const VariantSet& set, const VariantFigures& one) {
  std::vector<std::string> words;
  if (const Recommendation* faster = most_faster(one)) {
    words.push_back(recommendation_sentence(*faster).text);
    const std::int64_t batch = record.plan.subjects.at(static_cast<std::size_t>(faster->subject)).batch_size;
    if (set.batch_sizes.size() > 1) words.back() += fmt::format(" at batch size {}", batch);
  }
  for (const std::initializer_list<Kind> kinds :
       {std::initializer_list<Kind>{Kind::smaller_model},
        {Kind::outputs_differ, Kind::outputs_undecided, Kind::outputs_agree},
        {Kind::accuracy_lost, Kind::accuracy_unclear, Kind::accuracy_maintained}}) {
    const Recommendation* found = found_in(one, kinds);
    if (found != nullptr) words.push_back(recommendation_sentence(*found).text);
  }
  return fmt::format("{} ({})", printable(one.entry->label, 120), fmt::join(words, "; "));
}

}  // namespace

Headline headline_of_gate(const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  const Outcome outcome = outcome_of_all(verdict);
  if (outcome == Outcome::pass) {
    const std::string all = verdict.passed == 1 ? "the only expectation is met"
                                                : fmt::format("all {} expectations are met", verdict.passed);
    return {tone_of(outcome), all, "pass"};
  }
  const int count = outcome == Outcome::fail ? verdict.failed : verdict.inconclusive;
  std::vector<std::string> findings;
  for (const ExpectationVerdict& one : verdict.verdicts) {
    if (one.outcome != outcome || findings.size() == findings_shown) continue;
    findings.push_back(
        fmt::format("{} on {}: {}", expectation_text(gate, one), subject_text(record, one), value_text(gate, one)));
  }
  const std::size_t more = static_cast<std::size_t>(count) - findings.size();
  return {tone_of(outcome),
          fmt::format("{} of {} {}: {}{}", count, counted(verdict.verdicts.size(), "expectation"),
                      outcome == Outcome::fail ? "failed" : "undecided", fmt::join(findings, "; "),
                      more == 0 ? "" : fmt::format("; and {} more", more)),
          std::string(to_string(outcome))};
}

Headline headline_of_variants(const RunRecord& record, const VariantSet& set, const VariantsFigures& figures) {
  const VariantFigures* fastest = fastest_of(figures, [](const VariantFigures&) { return true; });
  if (fastest == nullptr) return {Tone::plain, "no variant is shown to be faster than the baseline", "no gain"};
  std::string text = "fastest: " + described(record, set, *fastest);
  if (keeps_outputs(*fastest)) return {Tone::good, text, "faster"};
  const VariantFigures* kept = fastest_of(figures, keeps_outputs);
  text += kept == nullptr ? "; none of those whose outputs agree is shown to be faster"
                          : "; fastest of those whose outputs agree: " + described(record, set, *kept);
  return {kept == nullptr ? Tone::warning : Tone::good, text, "faster"};
}

}  // namespace infermeter
