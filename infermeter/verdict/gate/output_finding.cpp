// Expectations of outputs: exact, as the outputs of one process of each are compared element by element.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/verdict/answers/like_for_like.hpp"
#include "infermeter/verdict/gate/finding.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

Finding decided(Finding finding, Outcome outcome, std::string why) {
  finding.outcome = outcome;
  finding.why = std::move(why);
  return finding;
}

constexpr std::string_view no_numbers = "the outputs have no finite numbers";

// The largest difference, which has a place as well, is not in the catalogue.
constexpr std::string_view difference_name = "max_absolute_difference";

std::optional<double> value_in(const DifferenceFigure* figure, const OutputDifference& output) {
  if (figure == nullptr) return output.max_absolute;
  const auto value = figure->of(output);
  return !value && figure->is_zero_of_equal_zeros && output.max_absolute == 0 ? std::optional(0.0) : value;
}

// The worst of all outputs that have the figure; nullopt: none has it, or one lacks it that it is wanted of. Null: the
// largest difference.
std::optional<double> worst(const DifferenceFigure* figure, const std::vector<OutputDifference>& outputs) {
  const bool larger_is_worse = figure == nullptr || figure->reading == DifferenceFigure::Reading::distance;
  const bool of_every_output = figure != nullptr && figure->of_every_output;
  std::optional<double> found;
  for (const OutputDifference& output : outputs) {
    const auto value = value_in(figure, output);
    if (!value && of_every_output && output.max_absolute.value_or(0) > 0) return std::nullopt;
    if (!value) continue;
    if (!found || (larger_is_worse ? *value > *found : *value < *found)) found = value;
  }
  return found;
}

// Null: the largest difference.
const DifferenceFigure* figure_of(const Expectation& expectation) {
  if (expectation.name == difference_name) return nullptr;
  const auto figures = difference_figures();
  const auto found = std::ranges::find(figures, expectation.name, &DifferenceFigure::gate_name);
  INFERMETER_CHECK(found != figures.end());
  return &*found;
}

Finding agreement(Finding finding, const OutputComparison& comparison) {
  if (comparison.agree) return decided(std::move(finding), Outcome::pass, "every output is within tolerance");
  if (comparison.undecided) {
    const auto undecided = std::ranges::find_if(
        comparison.outputs, [](const OutputDifference& output) { return !output.undecided.empty(); });
    return decided(std::move(finding), Outcome::inconclusive,
                   fmt::format("output '{}' {}", undecided->name, undecided->undecided));
  }
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
  const DifferenceFigure* figure = figure_of(expectation);
  finding.value = worst(figure, comparison.outputs);
  if (!finding.value) finding.why = figure == nullptr || figure->why_none.empty() ? no_numbers : figure->why_none;
  return finding;
}

}  // namespace infermeter
