// Expectations of outputs: exact, as the outputs of one process of each are compared element by element.
#include <fmt/format.h>

#include <algorithm>
#include <array>
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

using Difference = OutputDifference;

constexpr std::string_view no_numbers = "the outputs have no finite numbers";

struct OutputFigure {
  std::string_view name;
  std::optional<double> (*value)(const Difference&);
  bool larger_is_worse = true;
  std::string_view why_none = no_numbers;
  bool of_every_output = false;  // an output that differs and has no such figure leaves none for the whole
};

// Both all zeros: there is no relative distance, and none is needed.
std::optional<double> relative(const Difference& output, const std::optional<double>& distance) {
  return !distance && output.max_absolute == 0 ? std::optional(0.0) : distance;
}

constexpr std::string_view all_zeros = "the reference's outputs are all 0, so that nothing is relative to them";

constexpr auto output_figures = std::to_array<OutputFigure>({
    {"max_absolute_difference", [](const Difference& o) { return o.max_absolute; }, true, no_numbers},
    {"mae", [](const Difference& o) { return o.mae; }},
    {"mse", [](const Difference& o) { return o.mse; }},
    {"rmse", [](const Difference& o) { return o.rmse; }},
    {"relative_l1", [](const Difference& o) { return relative(o, o.relative_l1); }, true, all_zeros, true},
    {"relative_l2", [](const Difference& o) { return relative(o, o.relative_l2); }, true, all_zeros, true},
    {"relative_max", [](const Difference& o) { return relative(o, o.relative_max); }, true, all_zeros, true},
    {"cosine", [](const Difference& o) { return o.cosine; }, false, "outputs that are all 0 have no direction", true},
    {"pearson", [](const Difference& o) { return o.pearson; }, false, "a constant output correlates with nothing"},
    {"psnr", [](const Difference& o) { return o.psnr_db; }, false,
     "the reference's outputs are constant: there is no range that the error is relative to"},
    {"ssim", [](const Difference& o) { return o.ssim; }, false, "no output is an image"},
    {"top1_agreement", [](const Difference& o) { return o.top1_agreement; }, false,
     "no output looks like a classifier's"},
    {"top5_agreement", [](const Difference& o) { return o.top5_agreement; }, false,
     "no output looks like a classifier's of more than five classes"},
});

// The worst of all outputs that have the figure; nullopt: none has it, or one lacks it that it is wanted of.
std::optional<double> worst(const OutputFigure& figure, const std::vector<OutputDifference>& outputs) {
  std::optional<double> found;
  for (const OutputDifference& output : outputs) {
    const auto value = figure.value(output);
    if (!value && figure.of_every_output && output.max_absolute.value_or(0) > 0) return std::nullopt;
    if (!value) continue;
    if (!found || (figure.larger_is_worse ? *value > *found : *value < *found)) found = value;
  }
  return found;
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
  const auto figure = std::ranges::find(output_figures, expectation.name, &OutputFigure::name);
  INFERMETER_CHECK(figure != output_figures.end());
  finding.value = worst(*figure, comparison.outputs);
  if (!finding.value) finding.why = figure->why_none;
  return finding;
}

}  // namespace infermeter
