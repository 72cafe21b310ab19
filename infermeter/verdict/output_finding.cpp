// Expectations of outputs: exact, as the outputs of one process of each are compared element by element.
#include <fmt/format.h>

#include <algorithm>

#include "infermeter/verdict/finding.hpp"
#include "infermeter/verdict/like_for_like.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

Finding decided(Finding finding, Outcome outcome, std::string why) {
  finding.outcome = outcome;
  finding.why = std::move(why);
  return finding;
}

// The worst of all outputs that have the figure; nullopt: none has it.
std::optional<double> worst(Kind kind, const std::vector<OutputDifference>& outputs) {
  std::optional<double> found;
  const auto keep = [&](std::optional<double> value, bool larger_is_worse) {
    if (!value) return;
    const bool worse = !found || (larger_is_worse ? *value > *found : *value < *found);
    if (worse) found = value;
  };
  for (const OutputDifference& output : outputs) {
    switch (kind) {
      case Kind::max_absolute_difference: keep(output.max_absolute, true); break;
      // Both all zeros: there is no relative distance, and none is needed.
      case Kind::relative_l2:
        keep(!output.relative_l2 && output.max_absolute == 0 ? std::optional(0.0) : output.relative_l2, true);
        break;
      case Kind::cosine: keep(output.cosine, false); break;
      case Kind::top1_agreement: keep(output.top1_agreement, false); break;
      default: break;
    }
  }
  return found;
}

std::string why_none(Kind kind) {
  switch (kind) {
    case Kind::relative_l2: return "the reference's outputs are all 0, so that nothing is relative to them";
    case Kind::cosine: return "outputs that are all 0 have no direction";
    case Kind::top1_agreement: return "no output looks like a classifier's";
    default: return "there are no outputs";
  }
}

Finding agreement(Finding finding, const OutputComparison& comparison) {
  if (comparison.agree) return decided(std::move(finding), Outcome::pass, "every output is within tolerance");
  const auto differs = [](const OutputDifference& output) { return !output.within_tolerance; };
  const auto first = std::ranges::find_if(comparison.outputs, differs);
  if (first == comparison.outputs.end()) return decided(std::move(finding), Outcome::fail, "the outputs differ");
  return decided(std::move(finding), Outcome::fail,
                 fmt::format("output '{}': {} of {} elements are beyond tolerance", first->name, first->mismatched,
                             first->element_count));
}

}  // namespace

Finding find_output_figure(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  const SubjectOutputs* outputs = evidence.verdict.subjects.at(static_cast<std::size_t>(subject)).outputs;
  Finding finding;
  finding.exact = true;
  if (outputs == nullptr) {
    finding.why = evidence.run.plan.compare_outputs ? "outputs were not compared: one of the two gave none"
                                                    : "outputs were not compared (--no-compare-outputs)";
    return finding;
  }
  const OutputComparison& comparison = outputs->comparison;
  finding.n = static_cast<std::int64_t>(comparison.items);
  finding.n_of = "items";
  finding.processes = 2;
  for (const Diagnostic& diagnostic : same_outputs_in_every_process(evidence.run, subject)) {
    finding.notes.push_back(diagnostic.message);
  }
  const auto apart = std::ranges::find(comparison.outputs, false, &OutputDifference::comparable);
  if (apart != comparison.outputs.end()) {
    return decided(std::move(finding), Outcome::fail,
                   fmt::format("output '{}' cannot be compared: {}", apart->name, apart->reason));
  }
  if (expectation.kind == Kind::outputs_agree) return agreement(std::move(finding), comparison);
  const auto infinite = std::ranges::find_if(comparison.outputs, [](const auto& o) { return o.non_finite_apart > 0; });
  if (infinite != comparison.outputs.end()) {
    return decided(std::move(finding), Outcome::fail,
                   fmt::format("output '{}': {} elements are NaN or infinite in one of the two", infinite->name,
                               infinite->non_finite_apart));
  }
  finding.value = worst(expectation.kind, comparison.outputs);
  if (!finding.value) finding.why = why_none(expectation.kind);
  return finding;
}

}  // namespace infermeter
