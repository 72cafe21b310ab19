#include "infermeter/report/run/accuracy_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/answers/accuracy_answers.hpp"

namespace infermeter {
namespace {

const SubjectVerdict* baseline_of(const Verdict& verdict, const SubjectVerdict& subject) {
  if (!subject.baseline) return nullptr;
  const auto found = std::ranges::find(verdict.subjects, *subject.baseline, &SubjectVerdict::subject);
  return found == verdict.subjects.end() || !found->accuracy ? nullptr : &*found;
}

std::string between(const Interval& interval) {
  return fmt::format("[{}, {}]", share_text(interval.low), share_text(interval.high));
}

std::string p_text(double p) { return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", p); }

// ", 0.0015 lower than a [0.0004, 0.0026] (p = 0.004)": of the change, turned so that it is a loss or a gain.
std::string change_clause(const std::string& baseline, const PairedProportions& change) {
  const auto [low, high, confidence] = change.interval;
  if (high < 0) {
    return fmt::format(", {} lower than {} {} ({})", share_text(-change.difference), baseline,
                       between({-high, -low, confidence}), p_text(change.p_value));
  }
  if (low > 0) {
    return fmt::format(", {} higher than {} {} ({})", share_text(change.difference), baseline, between(change.interval),
                       p_text(change.p_value));
  }
  return fmt::format(", {} against {}: a difference cannot be determined [{}, {}]", signed_share(change.difference),
                     baseline, signed_share(low), signed_share(high));
}

std::string labels_sentence(const std::string& label, const std::string& baseline, const AccuracyVerdict& accuracy) {
  const LabelAccuracy& labels = *accuracy.measured->accuracy.labels;
  if (!accuracy.share || !accuracy.interval) {
    return fmt::format("{}: accuracy not known: no row has a label", label);
  }
  std::string text = fmt::format("{}: accuracy {}", label, share_text(*accuracy.share));
  if (accuracy.change && !baseline.empty()) {
    text += change_clause(baseline, *accuracy.change);
  } else {
    text += " " + between(*accuracy.interval);
  }
  text += fmt::format(" of {}", counted(static_cast<std::int64_t>(labels.rows), "row", "rows"));
  if (const auto top5 = labels.top5_share()) text += fmt::format("; among the first five {}", share_text(*top5));
  return text;
}

// "q4: perplexity 261, 0.43 % more than f32 [0.41 %, 0.45 %], of 64 texts; 0.0123 of the next tokens are right"
std::string texts_sentence(const std::string& label, const std::string& baseline, const AccuracyVerdict& accuracy) {
  if (!accuracy.perplexity)
    return fmt::format("{}: it assigns probability 0 to a token of the texts, so its perplexity is infinite", label);
  std::string text = fmt::format("{}: perplexity {}", label, plain_number(*accuracy.perplexity));
  const auto percents = [](double share) { return fmt::format("{} %", three_digits(share * 100)); };
  if (const auto& change = accuracy.perplexity_change; change && !baseline.empty()) {
    text += change->increase == 0 ? fmt::format(", as {}", baseline)
                                  : fmt::format(", {} {} than {}", percents(std::abs(change->increase)),
                                                change->increase > 0 ? "more" : "less", baseline);
    // Of what the sentence says: more, or less.
    const bool is_less = change->increase < 0;
    if (const auto& interval = change->interval)
      text += fmt::format(" [{}, {}]", percents(is_less ? -interval->high : interval->low),
                          percents(is_less ? -interval->low : interval->high));
  }
  text += fmt::format(", of {}",
                      counted(static_cast<std::int64_t>(accuracy.measured->text_losses.size()), "text", "texts"));
  if (accuracy.share) text += fmt::format("; {} of the next tokens are right", share_text(*accuracy.share));
  return text;
}

std::string figure_clause(const char* name, std::optional<double> own, std::optional<double> other) {
  if (!own) return "";
  const std::string beside = other ? fmt::format(" ({})", signed_share(*own - *other)) : "";
  return fmt::format(", {} {}{}", name, share_text(*own), beside);
}

std::string masks_sentence(const std::string& label, const AccuracyVerdict& accuracy, const MaskAccuracy* other) {
  const MaskAccuracy& masks = *accuracy.measured->accuracy.masks;
  if (!accuracy.share) return fmt::format("{}: accuracy not known: no pixel has a label", label);
  return fmt::format("{}: {} of the pixels are right{}{}", label, share_text(*accuracy.share),
                     figure_clause("mean IoU", masks.mean_iou(), other ? other->mean_iou() : std::nullopt),
                     figure_clause("mean Dice", masks.mean_dice(), other ? other->mean_dice() : std::nullopt));
}

}  // namespace

std::string share_text(double share) { return fmt::format("{:.4f}", share); }

std::string signed_share(double change) {
  const std::string text = fmt::format("{:+.4f}", change);
  return text == "-0.0000" ? "+0.0000" : text;
}

Cell accuracy_cell(const SubjectVerdict& subject) {
  if (!subject.accuracy || !subject.accuracy->share) return {"–", Tone::faint};
  const auto& masks = subject.accuracy->measured->accuracy.masks;
  if (masks) {
    const auto iou = masks->mean_iou();
    return iou ? Cell{"IoU " + share_text(*iou), Tone::plain} : Cell{"–", Tone::faint};
  }
  const auto& change = subject.accuracy->change;
  const std::string share = share_text(*subject.accuracy->share);
  if (!change) return {share, Tone::plain};
  const Tone tone = tone_of_change(change);
  return {fmt::format("{} ({})", share, signed_share(change->difference)), tone == Tone::faint ? Tone::plain : tone};
}

bool has_accuracy(const std::vector<const SubjectVerdict*>& subjects) {
  return std::ranges::any_of(subjects, [](const SubjectVerdict* subject) { return subject->accuracy.has_value(); });
}

std::string accuracy_sentence(const RunRecord& record, const Verdict& verdict, const Answer& answer) {
  const SubjectVerdict& subject = verdict.subjects.at(static_cast<std::size_t>(answer.subjects.front()));
  const std::string label = printable(label_alone(record, subject.subject), 120);
  const SubjectVerdict* baseline = baseline_of(verdict, subject);
  if (subject.accuracy->measured->accuracy.labels) {
    const std::string other = baseline ? printable(label_alone(record, baseline->subject), 120) : "";
    if (subject.accuracy->measured->is_of_texts()) return texts_sentence(label, other, *subject.accuracy);
    return labels_sentence(label, other, *subject.accuracy);
  }
  const auto* other = baseline ? &baseline->accuracy->measured->accuracy.masks : nullptr;
  return masks_sentence(label, *subject.accuracy, other && *other ? &**other : nullptr);
}

std::string image_figures(const OutputComparison& comparison) {
  const OutputDifference* least = nullptr;
  for (const auto& output : comparison.outputs) {
    if (output.ssim && (least == nullptr || *output.ssim < *least->ssim)) least = &output;
  }
  if (least == nullptr || !least->psnr_db) return "";
  const std::string psnr = std::isinf(*least->psnr_db) ? "infinite" : three_digits(*least->psnr_db) + " dB";
  return fmt::format(" (PSNR {}, SSIM {})", psnr, share_text(*least->ssim));
}

}  // namespace infermeter
