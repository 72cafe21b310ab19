#include "infermeter/store/record_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>

#include "infermeter/diagnostics/diagnostic_fields.hpp"
#include "infermeter/diagnostics/json_fields.hpp"

namespace infermeter {

template <class V, MaybeConst<ModelFacts> S>
void visit_fields(V& v, S& s) {
  v.required("name", s.name);
  v.required("path", s.path);
  v.required("format", s.format);
  v.required("sha256", s.sha256);
  v.required("size_bytes", s.size_bytes);
  v.required("parameters", s.parameters);
  v.field("nonzero_parameters", s.nonzero_parameters);
  v.field("made", s.made);
  v.required("weight_files", s.weight_files);
  v.required("from_zoo", s.from_zoo);
}

template <class V, MaybeConst<Parting> S>
void visit_fields(V& v, S& s) {
  v.required("item", s.item);
  v.required("position", s.position);
  v.required("length", s.length);
  v.required("before", s.before, exactly);
  v.required("reference", s.reference, exactly);
  v.required("candidate", s.candidate, exactly);
  v.where_there("before_text", s.before_text);
  v.where_there("reference_text", s.reference_text);
  v.where_there("candidate_text", s.candidate_text);
}

// What is not required, earlier versions did not store.
template <class V, MaybeConst<OutputDifference> S>
void visit_fields(V& v, S& s) {
  v.required("name", s.name);
  v.required("dtype", s.dtype);
  v.required("shape", s.shape);
  v.required("comparable", s.comparable);
  v.required("reason", s.reason);
  v.required("within_tolerance", s.within_tolerance);
  v.field("undecided", s.undecided);
  v.required("element_count", s.element_count);
  v.required("max_absolute", s.max_absolute, exactly);
  v.field("max_absolute_item", s.max_absolute_item);
  v.required("max_absolute_index", s.max_absolute_index);
  v.required("reference_at_max", s.reference_at_max, exactly);
  v.required("candidate_at_max", s.candidate_at_max, exactly);
  v.required("nan_reference", s.nan_reference);
  v.required("nan_candidate", s.nan_candidate);
  v.required("inf_reference", s.inf_reference);
  v.required("inf_candidate", s.inf_candidate);
  v.required("mismatched", s.mismatched);
  v.field("non_finite_apart", s.non_finite_apart);
  v.required("tolerance_relative", s.tolerance.relative, exactly);
  v.required("tolerance_absolute", s.tolerance.absolute, exactly);
  v.field("tolerance_floor", s.tolerance.floor, exactly);
  for (const DifferenceFigure& figure : difference_figures()) v.field(figure.id, s.*figure.value, exactly);
  v.where_any("partings", s.partings);
}

template <class V, MaybeConst<OutputComparison> S>
void visit_fields(V& v, S& s) {
  v.required("agree", s.agree);
  v.field("undecided", s.undecided);
  v.required("items", s.items);
  v.required("outputs", s.outputs);
  v.required("diagnostics", s.diagnostics);
}

template <MaybeConst<ClassAccuracy> S>
auto fields_in_order(S& s) {
  return std::tie(s.label, s.rows, s.right);
}

template <class V, MaybeConst<LabelAccuracy> S>
void visit_fields(V& v, S& s) {
  v.required("rows", s.rows);
  v.required("top1", s.top1);
  v.required("top5", s.top5);
  v.required("classes", s.classes);
}

template <MaybeConst<ClassOverlap> S>
auto fields_in_order(S& s) {
  return std::tie(s.label, s.both, s.truth, s.predicted);
}

template <class V, MaybeConst<MaskAccuracy> S>
void visit_fields(V& v, S& s) {
  v.required("pixels", s.pixels);
  v.required("right", s.right);
  v.required("classes", s.classes);
}

template <MaybeConst<PairedRight> S>
auto fields_in_order(S& s) {
  return std::tie(s.both, s.reference_only, s.candidate_only, s.neither);
}

template <class V, MaybeConst<SubjectAccuracy> S>
void visit_fields(V& v, S& s) {
  v.required("subject", s.subject);
  v.required("output", s.accuracy.output);
  v.required("labels", s.accuracy.labels);
  v.required("masks", s.accuracy.masks);
  v.required("reference", s.reference);
  v.required("paired", s.paired);
  v.where_any("text_losses", s.text_losses, exactly);
}

template <class V, MaybeConst<MachineNoise> S>
void visit_fields(V& v, S& s) {
  v.required("measured_at", s.measured_at);
  v.required("subject", s.subject);
  v.required("metric", s.metric);
  v.required("pairs", s.pairs);
  v.required("standard_deviation", s.standard_deviation, exactly);
}

namespace {

bool is_parting(const Parting& parting) {
  const auto fits = [](const std::optional<std::string>& text) { return !text || text->size() <= kMostPartingText; };
  return parting.position < parting.length && parting.before.size() <= kMostBeforeParting &&
         parting.reference.size() <= kMostFromParting && parting.candidate.size() <= kMostFromParting &&
         fits(parting.before_text) && fits(parting.reference_text) && fits(parting.candidate_text);
}

// Earlier versions stored figures of the other values where some are finite in one only.
void drop_figures_of_some_values(OutputDifference& output) {
  if (output.non_finite_apart == 0) return;
  output.max_absolute.reset();
  for (const DifferenceFigure& figure : difference_figures())
    if (figure.unit != DifferenceFigure::Unit::share) (output.*figure.value).reset();
}

// Sums of them stay in range.
bool is_count(std::uint64_t count) { return count <= std::uint64_t{1} << 53; }

bool are_counts(const auto& listed) {
  return std::apply([](auto... counts) { return (is_count(counts) && ...); }, listed);
}

bool fit(const LabelAccuracy& labels) {
  return is_count(labels.rows) && std::max(labels.top1, labels.top5.value_or(0)) <= labels.rows &&
         std::ranges::all_of(labels.classes,
                             [](const ClassAccuracy& one) { return are_counts(std::tie(one.rows, one.right)); });
}

bool fit(const MaskAccuracy& masks) {
  return are_counts(std::tie(masks.pixels, masks.right)) &&
         std::ranges::all_of(masks.classes, [](const ClassOverlap& one) {
           return are_counts(std::tie(one.both, one.truth, one.predicted));
         });
}

// NaN: a token has a share of 0.
bool is_loss(double loss) { return std::isnan(loss) || (loss >= 0 && loss <= 1e6); }

bool fit(const SubjectAccuracy& subject) {
  const Accuracy& accuracy = subject.accuracy;
  return (!accuracy.labels || fit(*accuracy.labels)) && (!accuracy.masks || fit(*accuracy.masks)) &&
         (!subject.paired || are_counts(fields_in_order(*subject.paired))) &&
         std::ranges::all_of(subject.text_losses, is_loss);
}

}  // namespace

std::string models_to_json(const std::vector<ModelFacts>& models) { return structure_to_json(models); }
Result<std::vector<ModelFacts>> models_from_json(std::string_view text) {
  return structure_from_json<std::vector<ModelFacts>>(text, "the record of the models");
}

std::string diagnostics_to_json(const std::vector<Diagnostic>& diagnostics) { return structure_to_json(diagnostics); }
Result<std::vector<Diagnostic>> diagnostics_from_json(std::string_view text) {
  return structure_from_json<std::vector<Diagnostic>>(text, "the record of the diagnostics");
}

std::string comparison_to_json(const OutputComparison& comparison) { return structure_to_json(comparison); }
Result<OutputComparison> comparison_from_json(std::string_view text) {
  constexpr std::string_view what = "the record of a comparison of outputs";
  INFERMETER_TRY(auto comparison, structure_from_json<OutputComparison>(text, what));
  for (OutputDifference& output : comparison.outputs) {
    if (!std::ranges::all_of(output.partings, is_parting))
      return io_error(std::string(what) +
                      " cannot be read: a place where two rows of integers differ lies beyond them, or shows more than "
                      "is stored of one");
    drop_figures_of_some_values(output);
  }
  return comparison;
}

std::string accuracy_to_json(const SubjectAccuracy& accuracy) { return structure_to_json(accuracy); }
Result<SubjectAccuracy> accuracy_from_json(std::string_view text) {
  constexpr std::string_view what = "the record of an accuracy";
  INFERMETER_TRY(auto subject, structure_from_json<SubjectAccuracy>(text, what));
  if (!fit(subject))
    return io_error(
        std::string(what) +
        " cannot be read: a count is above 2^53, more rows are right than there are, or a loss is not from 0 to 1e6");
  return subject;
}

std::string noise_to_json(const std::optional<MachineNoise>& noise) { return structure_to_json(noise); }
Result<std::optional<MachineNoise>> noise_from_json(std::string_view text) {
  return structure_from_json<std::optional<MachineNoise>>(text, "the record of the machine's noise");
}

std::string strings_to_json(const std::vector<std::string>& strings) { return structure_to_json(strings); }
Result<std::vector<std::string>> strings_from_json(std::string_view text) {
  return structure_from_json<std::vector<std::string>>(text, "the record of the labels");
}

}  // namespace infermeter
