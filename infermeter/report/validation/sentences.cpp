// A validation in words: what was found, how sure it is, what to mind.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/accuracy_text.hpp"
#include "infermeter/report/validation/parts.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/answers/validation_answers.hpp"

namespace infermeter {
namespace {

std::string quoted(const std::string& name) { return fmt::format("'{}'", printable(name, 80)); }

std::string samples_text(std::size_t count) { return counted(static_cast<std::int64_t>(count), "sample", "samples"); }

std::string share_of_allowed(const OutputDifference& output) {
  if (output.max_absolute.value_or(0) == 0 || !(output.allowed > 0)) return "";
  return fmt::format(", {} % of what is allowed", plain_number(100 * *output.max_absolute / output.allowed));
}

std::string all_agree_text(const Validation& validation, const Answer& answer) {
  const auto& outputs = validation.outputs.outputs;
  const std::string text = fmt::format("{}, {}: all within tolerance", samples_text(validation.items.size()),
                                       counted(static_cast<std::int64_t>(outputs.size()), "output", "outputs"));
  if (answer.value.value_or(0) == 0) return text + "; all values are equal";
  const OutputDifference& largest = outputs.at(*answer.place);
  return text + fmt::format("; the largest difference is {} in {}{}", difference_text(*largest.max_absolute),
                            quoted(largest.name), share_of_allowed(largest));
}

std::string differs_text(const Validation& validation, std::size_t index) {
  const OutputDifference& o = validation.outputs.outputs.at(index);
  const auto beyond = std::ranges::count_if(
      validation.samples, [&](const auto& sample) { return sample.output == index && !sample.within_tolerance; });
  std::string text = fmt::format("output {}: {} of {} beyond the tolerance, {} of {} values", quoted(o.name), beyond,
                                 samples_text(validation.items.size()), o.mismatched, o.element_count);
  if (o.max_absolute.value_or(0) > 0) {
    text += fmt::format("; the largest difference is {} at {} of {}: {:.6g} against {:.6g}, where {} is allowed",
                        difference_text(*o.max_absolute), place_text(o.max_absolute_index, o.shape, o.dtype),
                        sample_name(validation, o.max_absolute_item), o.candidate_at_max, o.reference_at_max,
                        difference_text(o.allowed));
  }
  return text;
}

std::string outputs_text(const Validation& validation, const Answer& answer) {
  if (answer.kind == AnswerKind::outputs_agree) return all_agree_text(validation, answer);
  if (!answer.place) return printable(answer.reason);
  if (answer.kind == AnswerKind::outputs_differ) return differs_text(validation, *answer.place);
  if (answer.kind == AnswerKind::outputs_undecided) {
    return fmt::format("output {} {}", quoted(answer.about), printable(answer.reason));
  }
  return fmt::format("output {} cannot be compared: it {}", quoted(answer.about), printable(answer.reason));
}

std::string values_text(const Validation& validation, const Answer& answer) {
  const OutputDifference& o = validation.outputs.outputs.at(*answer.place);
  if (answer.kind == AnswerKind::equal) return quoted(o.name) + " is equal in both: PSNR is infinite (∞)";
  if (answer.kind == AnswerKind::constant) {
    return fmt::format("{} is constant in the baseline: it correlates with nothing{}", quoted(o.name),
                       o.max_absolute == 0 ? ", and as both are equal PSNR is infinite"
                                           : ", and there is no range that PSNR could be relative to");
  }
  if (answer.metric == "non_finite_reference") {
    return fmt::format(
        "the baseline itself has {} NaN and {} infinite values in {}; the "
        "figures are of the others",
        o.nan_reference, o.inf_reference, quoted(o.name));
  }
  return fmt::format(
      "{}: {} NaN or infinite in one and not the same in the other "
      "({} NaN and {} infinite in the candidate)",
      quoted(o.name), counted(o.non_finite_apart, "value is", "values are"), o.nan_candidate, o.inf_candidate);
}

std::string repetition_text(const Answer& answer) {
  if (!answer.value) {
    return fmt::format(
        "the baseline does not repeat itself in {}: {}", quoted(answer.about),
        answer.reason.empty() ? "some values are NaN in one of the two runs only" : "it " + printable(answer.reason));
  }
  return fmt::format(
      "the baseline does not repeat itself: run twice on {}, {} differed by up to {}; no "
      "tolerance is below that",
      samples_text(static_cast<std::size_t>(answer.n)), quoted(answer.about), difference_text(*answer.value));
}

std::string between_percents(const Interval& interval) {
  return fmt::format("[{}, {}]", signed_share(interval.low), signed_share(interval.high));
}

std::string right_text(const Accuracy& accuracy) {
  const auto share = accuracy.share();
  std::string text = share ? share_text(*share) : "–";
  if (accuracy.labels) {
    if (const auto top5 = accuracy.labels->top5_share()) text += fmt::format(" (top-5 {})", share_text(*top5));
  } else if (accuracy.masks) {
    if (const auto iou = accuracy.masks->mean_iou()) text += fmt::format(" (mean IoU {}", share_text(*iou));
    if (const auto dice = accuracy.masks->mean_dice()) text += fmt::format(", Dice {})", share_text(*dice));
  }
  return text;
}

// The class that lost most right rows, where any did.
std::string worst_class(const Validation& validation) {
  const AccuracyDrop& accuracy = *validation.accuracy;
  if (validation.are_texts || !accuracy.baseline.labels || !accuracy.candidate.labels) return "";
  const ClassAccuracy* worst = nullptr;
  std::int64_t most = 0;
  for (const ClassAccuracy& before : accuracy.baseline.labels->classes) {
    const auto after = std::ranges::find(accuracy.candidate.labels->classes, before.label, &ClassAccuracy::label);
    if (after == accuracy.candidate.labels->classes.end()) continue;
    const auto lost = static_cast<std::int64_t>(before.right) - static_cast<std::int64_t>(after->right);
    if (lost > most) worst = &before, most = lost;
  }
  if (worst == nullptr) return "";
  return fmt::format("; class {} loses most: {} of its {} rows", worst->label, most, worst->rows);
}

std::string allowed_clause(const AccuracyDrop& accuracy) {
  const auto outcome = outcome_of(accuracy);
  if (!outcome) return "";
  const std::string allowed = fmt::format("a drop of {} (--max-drop)", share_text(*accuracy.allowed));
  if (!accuracy.change) return fmt::format("; {} cannot be judged on one sample", allowed);
  switch (*outcome) {
    case Outcome::pass: return fmt::format("; {} is not exceeded", allowed);
    case Outcome::fail: return fmt::format("; {} is exceeded by the whole interval", allowed);
    case Outcome::inconclusive: break;
  }
  return fmt::format("; whether {} is exceeded cannot be determined: more labelled data would", allowed);
}

std::string_view what_is_right(const Validation& validation) {
  if (validation.accuracy->baseline.masks) return "pixels";
  return validation.are_texts ? "next tokens" : "accuracy";
}

std::string accuracy_text(const Validation& validation) {
  const AccuracyDrop& accuracy = *validation.accuracy;
  std::string text = fmt::format("{}: {} right, {} {}", what_is_right(validation),
                                 subject_name(validation.candidate) + " " + right_text(accuracy.candidate),
                                 subject_name(validation.baseline), right_text(accuracy.baseline));
  if (accuracy.change) {
    text += fmt::format("; change {} {}", signed_share(accuracy.change->difference),
                        between_percents(accuracy.change->interval));
  }
  if (accuracy.paired && accuracy.change) {
    text += fmt::format(" (only the baseline right: {}, only the candidate: {}, McNemar p = {:.3g})",
                        accuracy.paired->reference_only, accuracy.paired->candidate_only, accuracy.change->p_value);
  }
  return text + worst_class(validation) + allowed_clause(accuracy);
}

std::string perplexity_text(const Validation& validation) {
  const PerplexityChange& perplexity = *validation.perplexity;
  const auto percents = [](double share) { return three_digits(100 * std::abs(share)) + " %"; };
  const auto more = [&](double share) -> std::string {
    if (std::abs(share) < 1e-6) return "0 %";
    return percents(share) + (share < 0 ? " less" : " more");
  };
  std::string text = fmt::format("perplexity: {} {}, {} {}; {}", subject_name(validation.candidate),
                                 plain_number(perplexity.candidate), subject_name(validation.baseline),
                                 plain_number(perplexity.baseline), more(perplexity.increase));
  if (const auto& interval = perplexity.interval)
    text += fmt::format(" (95 % interval: between {} and {})", more(interval->low), more(interval->high));
  const auto outcome = outcome_of(perplexity);
  if (!outcome) return text;
  const std::string allowed = fmt::format("an increase of {} (--max-increase)", percents(*perplexity.allowed));
  if (!perplexity.interval) return text + fmt::format("; {} cannot be judged on one text", allowed);
  switch (*outcome) {
    case Outcome::pass: return text + fmt::format("; {} is not exceeded", allowed);
    case Outcome::fail: return text + fmt::format("; {} is exceeded by the whole interval", allowed);
    case Outcome::inconclusive: break;
  }
  return text + fmt::format("; whether {} is exceeded cannot be determined: more texts would", allowed);
}

std::string agreement_text(const Validation& validation, const Answer& answer) {
  const std::string baseline = subject_name(validation.baseline), candidate = subject_name(validation.candidate);
  switch (answer.kind) {
    case AnswerKind::accurate_enough:
      return fmt::format("{} is as accurate as required, compared with {}", candidate, baseline);
    case AnswerKind::not_accurate_enough:
      return fmt::format("{} is less right than {} by more than is allowed", candidate, baseline);
    case AnswerKind::undecided:
      return fmt::format("it cannot be determined whether {} is as accurate as required, compared with {}", candidate,
                         baseline);
    case AnswerKind::outputs_agree: return fmt::format("{} agrees with {}", candidate, baseline);
    case AnswerKind::outputs_undecided:
      return fmt::format("it cannot be determined whether {} agrees with {}", candidate, baseline);
    default: return fmt::format("{} DIFFERS from {}", candidate, baseline);
  }
}

std::string validation_text(const Validation& validation, const Answer& answer) {
  switch (answer.topic) {
    case AnswerTopic::agreement: return agreement_text(validation, answer);
    case AnswerTopic::accuracy:
      return answer.metric == perplexity_metric ? perplexity_text(validation) : accuracy_text(validation);
    case AnswerTopic::repetition: return repetition_text(answer);
    case AnswerTopic::values: return values_text(validation, answer);
    default: return outputs_text(validation, answer);
  }
}

}  // namespace

std::vector<WordedAnswer> worded_answers(const Validation& validation) {
  std::vector<WordedAnswer> worded;
  for (const Answer& answer : validation_answers(validation))
    worded.push_back({answer, validation_text(validation, answer)});
  return worded;
}

std::vector<Sentence> validation_sentences(const Validation& validation) {
  std::vector<Sentence> sentences;
  for (const Answer& answer : validation_findings(validation))
    sentences.push_back({answer.tone, validation_text(validation, answer)});
  for (const Diagnostic& diagnostic : validation.diagnostics) {
    if (info(diagnostic.id).severity == Severity::info && diagnostic.id != DiagnosticId::accuracy_not_told) continue;
    const std::string about = diagnostic.about.empty() ? "" : printable(diagnostic.about, 80) + ": ";
    sentences.push_back({Tone::plain, about + printable(diagnostic.message)});
  }
  const ValidationTimes& times = validation.times;
  sentences.push_back(
      {Tone::plain, fmt::format("{}: {} the two models, {} the second run of the baseline, {} the inputs",
                                format_time(times.whole_s), format_time(times.models_s), format_time(times.again_s),
                                format_time(times.data_s))});
  return sentences;
}

}  // namespace infermeter
