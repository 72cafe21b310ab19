// Expectations of accuracy: on the interval of the rows that have a label; of masks, exact on the data as they are.
#include <algorithm>

#include "infermeter/verdict/gate/finding.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

constexpr const char* no_labels = "the data have no labels (--labels FILE)";

Finding of_rows(std::uint64_t rows) {
  Finding finding;
  finding.n = static_cast<std::int64_t>(rows);
  finding.n_of = finding.replication = "rows";
  finding.processes = 1;
  finding.replications = static_cast<int>(std::min<std::uint64_t>(rows, 1'000'000'000));
  return finding;
}

Finding share_of_rows(std::uint64_t right, std::uint64_t rows) {
  if (rows == 0) return nothing("no row has a label");
  Finding finding = of_rows(rows);
  finding.value = static_cast<double>(right) / static_cast<double>(rows);
  finding.interval = proportion_interval(right, rows);
  return finding;
}

// Of what is not independent of each other.
Finding exact_share(std::optional<double> value, std::uint64_t count, std::string_view n_of) {
  Finding finding;
  finding.value = value;
  finding.exact = true;
  finding.n = static_cast<std::int64_t>(count);
  finding.n_of = n_of;
  finding.processes = 1;
  return finding;
}

Finding of_pixels(std::optional<double> value, std::uint64_t pixels) {
  return value ? exact_share(value, pixels, "pixels") : nothing("no pixel has a label");
}

Finding perplexity_increase(const AccuracyVerdict& own) {
  if (!own.measured->is_of_texts())
    return nothing("its data are no texts (labels = \"next\", and subjects with output=logits)");
  if (!own.perplexity)
    return nothing("it assigns probability 0 to a token of the texts, so its perplexity is infinite");
  const auto& change = own.perplexity_change;
  if (!change) return nothing("the first subject has no perplexity of the same texts");
  Finding finding;
  finding.value = change->increase;
  finding.interval = change->interval;
  finding.n = static_cast<std::int64_t>(own.measured->text_losses.size());
  finding.n_of = finding.replication = "texts";
  finding.replications = static_cast<int>(own.measured->text_losses.size());
  finding.processes = 1;
  if (!change->interval) finding.why = "needs 2 texts for an interval";
  return finding;
}

Finding text_figure(std::string_view name, const LabelAccuracy& labels) {
  return exact_share(name == "top5_accuracy" ? labels.top5_share() : labels.top1_share(), labels.rows, "tokens");
}

Finding figure(std::string_view name, const SubjectAccuracy& measured) {
  const Accuracy& accuracy = measured.accuracy;
  const bool of_masks = name == "mean_iou" || name == "mean_dice";
  if (of_masks && !accuracy.masks) return nothing("there are no masks: --labels has a class per row and not per pixel");
  if (name == "mean_iou") return of_pixels(accuracy.masks->mean_iou(), accuracy.masks->pixels);
  if (name == "mean_dice") return of_pixels(accuracy.masks->mean_dice(), accuracy.masks->pixels);
  if (name == "top5_accuracy") {
    const auto& labels = accuracy.labels;
    if (!labels || !labels->top5) return nothing("there are not more than five classes");
    if (measured.is_of_texts()) return text_figure(name, *labels);
    return share_of_rows(*labels->top5, labels->rows);
  }
  if (accuracy.masks) return of_pixels(accuracy.share(), accuracy.masks->pixels);
  if (accuracy.labels && measured.is_of_texts()) return text_figure(name, *accuracy.labels);
  return accuracy.labels ? share_of_rows(accuracy.labels->top1, accuracy.labels->rows) : nothing(no_labels);
}

Finding drop(const AccuracyVerdict& own, const AccuracyVerdict* first) {
  if (own.measured->is_of_texts())
    return nothing("the tokens of a text are not independent: perplexity_increase is judged over texts");
  const auto& paired = own.measured->paired;
  if (own.change && paired) {
    Finding finding = of_rows(paired->both + paired->reference_only + paired->candidate_only + paired->neither);
    const Interval& change = own.change->interval;
    finding.value = 0 - own.change->difference;
    finding.interval = Interval{0 - change.high, 0 - change.low, change.confidence};
    return finding;
  }
  const auto& masks = own.measured->accuracy.masks;
  if (masks && masks->pixels > 0 && first != nullptr && first->share && own.share) {
    return of_pixels(*first->share - *own.share, masks->pixels);
  }
  return nothing("the rows of the two cannot be paired: the first subject has no accuracy, or is of other rows");
}

}  // namespace

Finding find_accuracy(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  const auto& subjects = evidence.verdict.subjects;
  const auto& own = subjects.at(static_cast<std::size_t>(subject)).accuracy;
  if (!own) {
    Finding counted = find_process_value(expectation, subject, evidence);
    return counted.value && expectation.kind == Kind::accuracy_figure ? counted : nothing(no_labels);
  }
  if (expectation.kind == Kind::accuracy_figure) return figure(expectation.name, *own->measured);
  if (expectation.kind == Kind::perplexity_increase) return perplexity_increase(*own);
  const auto first = first_of_group(evidence.run.plan, static_cast<std::size_t>(subject));
  const auto& reference = subjects.at(first).accuracy;
  return drop(*own, reference ? &*reference : nullptr);
}

}  // namespace infermeter
