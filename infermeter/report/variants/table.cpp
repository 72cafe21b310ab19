#include "infermeter/report/variants/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <span>

#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/recommendations.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_label_of_failure = 300;
const Cell nothing_cell{"–", Tone::faint};

struct VariantsColumn {
  GridColumn head;
  std::function<Cell(const VariantFigures&)> cell;
};

const Metric* metric_of(const SubjectVerdict* subject, std::string_view name) {
  const Metric* metric = subject == nullptr ? nullptr : subject->summary.metric(name);
  return metric != nullptr && metric->estimate.value ? metric : nullptr;
}

Cell variant_latency_cell(const VariantFigures& one, std::size_t size) {
  const SubjectVerdict* subject = size < one.subjects.size() ? one.subjects[size] : nullptr;
  const Metric* metric = metric_of(subject, "latency_p50");
  if (metric != nullptr) return {with_interval(*metric->estimate.value, metric->estimate.interval, format_time)};
  if (!one.entry->refusal.empty())
    return {one.entry->refusal.starts_with("could not be made") ? "✗ not made" : "✗ refused", Tone::bad};
  if (subject != nullptr && one.failed[size]) return {"✗ failed", Tone::bad};
  if (subject != nullptr && has_too_few(*subject)) return mean_cell(*subject);
  return {"not measured", Tone::bad};
}

Cell variant_speed_up_cell(const SubjectVerdict* subject) {
  if (subject == nullptr) return nothing_cell;
  if (!subject->baseline) return {"(baseline)", Tone::faint};
  const Ratio* ratio = ratio_of(*subject, "latency_p50");
  if (ratio == nullptr || !ratio->estimate.value) return nothing_cell;
  const auto& interval = ratio->estimate.interval;
  if (!interval) return {format_ratio(*ratio->estimate.value)};
  const Tone tone = interval->low > 1 ? Tone::good : interval->high < 1 ? Tone::warning : Tone::plain;
  return {with_interval(*ratio->estimate.value, interval, format_ratio), tone};
}

Cell metric_bytes_cell(const Metric* metric) {
  return metric == nullptr ? nothing_cell : Cell{format_bytes(*metric->estimate.value)};
}

Cell variant_memory_cell(const VariantFigures& one) {
  const SubjectVerdict* subject = one.subjects.empty() ? nullptr : one.subjects.front();
  const bool on_device = subject != nullptr && is_on_device(*subject);
  return metric_bytes_cell(metric_of(subject, on_device ? "device_memory_peak" : "memory_peak"));
}

Cell rate_cell(const SubjectVerdict* subject) {
  const Metric* metric = metric_of(subject, "throughput");
  return metric == nullptr ? nothing_cell : Cell{format_rate(*metric->estimate.value)};
}

// "25.6 M"
std::string parameters_text(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e9) return three_digits(value / 1e9) + " G";
  if (value >= 1e6) return three_digits(value / 1e6) + " M";
  return value >= 1e4 ? three_digits(value / 1e3) + " k" : fmt::format("{}", count);
}

Cell count_cell(const ModelFacts* model, std::optional<std::uint64_t> ModelFacts::* count) {
  return model == nullptr || !(model->*count) ? nothing_cell : Cell{parameters_text(*(model->*count))};
}

Cell size_cell(const VariantFigures& one) {
  return one.size_bytes ? Cell{format_bytes(static_cast<double>(*one.size_bytes))} : nothing_cell;
}

Cell error_cell(const VariantFigures& one) {
  if (one.output_error) return {fmt::format("{:.2g}", *one.output_error)};
  const bool is_reference = !one.subjects.empty() && one.subjects.front() != nullptr &&
                            !one.subjects.front()->baseline && one.failure.empty();
  return is_reference ? Cell{"reference", Tone::faint} : nothing_cell;
}

Cell accuracy_cell(const VariantFigures& one) {
  if (one.accuracy == nullptr || !one.accuracy->accuracy.share()) return nothing_cell;
  return {fmt::format("{:.4f}", *one.accuracy->accuracy.share())};
}

const SubjectVerdict* first_subject(const VariantFigures& one) {
  return one.subjects.empty() ? nullptr : one.subjects.front();
}

Cell tpot_cell(const VariantFigures& one) {
  const SubjectVerdict* subject = first_subject(one);
  const Estimate* tpot = subject == nullptr ? nullptr : subject->summary.estimate("tpot_p50");
  if (tpot == nullptr || !tpot->value) return nothing_cell;
  return {with_interval(*tpot->value, tpot->interval, format_time)};
}

// "259 (+0.432 %)"
Cell perplexity_cell(const VariantFigures& one) {
  const SubjectVerdict* subject = first_subject(one);
  if (subject == nullptr || !subject->accuracy || !subject->accuracy->perplexity) return nothing_cell;
  const std::string own = three_digits(*subject->accuracy->perplexity);
  const auto& change = subject->accuracy->perplexity_change;
  if (!change) return {own};
  const std::string sign = change->increase < 0 ? "-" : "+";
  return {fmt::format("{} ({}{} %)", own, sign, three_digits(std::abs(change->increase) * 100))};
}

Cell divergence_cell(const VariantFigures& one) {
  const auto quality = language_quality(one);
  return quality.kl_divergence ? Cell{fmt::format("{:.2g}", *quality.kl_divergence)} : nothing_cell;
}

Cell top1_cell(const VariantFigures& one) {
  const auto quality = language_quality(one);
  return quality.top1_agreement ? Cell{fmt::format("{:.4f}", *quality.top1_agreement)} : nothing_cell;
}

Cell front_cell(const VariantFigures& one) {
  if (one.subjects.empty() || metric_of(one.subjects.front(), "latency_p50") == nullptr) return nothing_cell;
  switch (one.pareto.place) {
    case ParetoPlace::front: return {"✓ on it", Tone::good};
    case ParetoPlace::dominated: return {"dominated", Tone::faint};
    case ParetoPlace::not_placed: break;
  }
  return {"not known", Tone::faint};
}

std::vector<VariantsColumn> columns_of(const VariantSet& set) {
  std::vector<VariantsColumn> columns = {
      {{"Variant"}, [](const VariantFigures& one) { return Cell{printable(one.entry->label, 100)}; }},
      {{"Size", Align::right}, size_cell}};
  const bool several = set.batch_sizes.size() > 1;
  for (std::size_t size = 0; size < set.batch_sizes.size(); ++size) {
    const std::string at = several ? fmt::format(" (batch {})", set.batch_sizes[size]) : "";
    const auto at_size = [size](const VariantFigures& one) {
      return size < one.subjects.size() ? one.subjects[size] : nullptr;
    };
    columns.push_back(
        {{"Latency p50" + at}, [size](const VariantFigures& one) { return variant_latency_cell(one, size); }});
    columns.push_back(
        {{"Speed-up" + at}, [at_size](const VariantFigures& one) { return variant_speed_up_cell(at_size(one)); }});
    columns.push_back(
        {{"Throughput" + at, Align::right}, [at_size](const VariantFigures& one) { return rate_cell(at_size(one)); }});
  }
  columns.push_back({{"TPOT p50"}, tpot_cell});
  columns.push_back({{"Memory", Align::right}, variant_memory_cell});
  columns.push_back({{"Output error", Align::right}, error_cell});
  columns.push_back({{"Accuracy", Align::right}, accuracy_cell});
  columns.push_back({{"Perplexity", Align::right}, perplexity_cell});
  columns.push_back({{"KL divergence", Align::right}, divergence_cell});
  columns.push_back({{"Same top-1", Align::right}, top1_cell});
  columns.push_back({{"Parameters", Align::right},
                     [](const VariantFigures& one) { return count_cell(one.model, &ModelFacts::parameters); }});
  columns.push_back({{"Non-zero", Align::right},
                     [](const VariantFigures& one) { return count_cell(one.model, &ModelFacts::nonzero_parameters); }});
  columns.push_back({{"Pareto front"}, front_cell});
  return columns;
}

std::string variant_label(const VariantsFigures& figures, std::size_t index) {
  return printable(figures.variants[index].entry->label, 100);
}

// "a, b"
std::string labels_of(const VariantsFigures& figures, std::span<const int> variants, const char* separator) {
  std::vector<std::string> labels;
  for (const int variant : variants) labels.push_back(variant_label(figures, static_cast<std::size_t>(variant)));
  return fmt::format("{}", fmt::join(labels, separator));
}

std::string variants_text(const VariantsFigures& figures, const Answer& answer) {
  const std::span<const int> variants = answer.subjects;
  switch (answer.kind) {
    case AnswerKind::failed:
      return fmt::format("{}: {}", printable(answer.about, longest_label_of_failure), printable(answer.reason, 600));
    case AnswerKind::on_front:
      return fmt::format("On the Pareto front of {}: {}. Differences within the intervals are ignored.",
                         fmt::join(figures.pareto_of, ", "), labels_of(figures, variants, ", "));
    case AnswerKind::dominated:
      return fmt::format("{} is dominated by {}: no worse in any of these figures, better in at least one.",
                         labels_of(figures, variants.first(1), ""),
                         labels_of(figures, variants.subspan(1), " and by "));
    default: return "no variant was measured";
  }
}

}  // namespace

LanguageQuality language_quality(const VariantFigures& one) {
  const SubjectVerdict* subject = first_subject(one);
  const bool of_texts = subject != nullptr && subject->accuracy && subject->accuracy->measured->is_of_texts();
  if (!of_texts || subject->outputs == nullptr || subject->outputs->comparison.outputs.empty()) return {};
  const OutputDifference& scores = subject->outputs->comparison.outputs.front();
  return {.kl_divergence = scores.kl_divergence, .top1_agreement = scores.top1_agreement};
}

Grid variants_grid(const VariantSet& set, const VariantsFigures& figures) {
  Grid grid;
  grid.rows.resize(figures.variants.size());
  for (const VariantsColumn& column : columns_of(set)) {
    std::vector<Cell> cells;
    for (const VariantFigures& one : figures.variants) cells.push_back(column.cell(one));
    if (std::ranges::all_of(cells, [](const Cell& cell) { return cell.text == nothing_cell.text; })) continue;
    grid.columns.push_back(column.head);
    for (std::size_t i = 0; i < cells.size(); ++i) grid.rows[i].push_back(std::move(cells[i]));
  }
  return grid;
}

std::vector<Sentence> sentences_of(const RunRecord& record, const VariantSet& set, const VariantFigures& figures) {
  std::vector<Sentence> sentences;
  if (!figures.failure.empty()) sentences.push_back({Tone::bad, printable(figures.failure, 600)});
  for (const Recommendation& one : figures.recommendations) {
    const Subject& subject = record.plan.subjects.at(static_cast<std::size_t>(one.subject));
    using Kind = Recommendation::Kind;
    const bool about_time = one.kind == Kind::faster || one.kind == Kind::slower || one.kind == Kind::not_faster;
    const bool is_first = set.batch_sizes.empty() || subject.batch_size == set.batch_sizes.front();
    // Size and accuracy do not change with the batch.
    if (!is_first && !about_time) continue;
    const std::string at =
        set.batch_sizes.size() > 1 && about_time ? fmt::format(" at batch size {}", subject.batch_size) : "";
    Sentence sentence = recommendation_sentence(one);
    sentence.text += at;
    sentences.push_back(std::move(sentence));
  }
  for (const std::string& remark : figures.remarks) sentences.push_back({Tone::warning, remark});
  return sentences;
}

std::vector<WordedAnswer> worded(const VariantsFigures& figures, const std::vector<Answer>& answers) {
  std::vector<WordedAnswer> all;
  for (const Answer& answer : answers) all.push_back({answer, variants_text(figures, answer)});
  return all;
}

std::vector<Notice> notices_of_variants(const Verdict& verdict) {
  static const std::set<DiagnosticId> expected = {
      DiagnosticId::model_differs,          DiagnosticId::precision_differs, DiagnosticId::runtime_version_differs,
      DiagnosticId::precision_not_as_asked, DiagnosticId::threads_differ,    DiagnosticId::provider_differs,
      DiagnosticId::outputs_differ,         DiagnosticId::trial_failed};
  std::vector<Notice> all = notices(verdict);
  std::erase_if(all, [](const Notice& notice) { return expected.contains(notice.id); });
  return all;
}

}  // namespace infermeter
