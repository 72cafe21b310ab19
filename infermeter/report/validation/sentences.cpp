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

namespace infermeter {
namespace {

std::string quoted(const std::string& name) { return fmt::format("'{}'", printable(name, 80)); }

std::string samples_text(std::size_t count) { return counted(static_cast<std::int64_t>(count), "sample", "samples"); }

std::string share_of_allowed(const OutputDifference& output) {
  if (output.max_absolute.value_or(0) == 0 || !(output.allowed > 0)) return "";
  return fmt::format(", {} % of what is allowed", plain_number(100 * *output.max_absolute / output.allowed));
}

Sentence agreement(const Validation& validation) {
  const auto& outputs = validation.outputs.outputs;
  const auto largest = std::ranges::max_element(outputs, {}, [](const OutputDifference& o) {
    return o.allowed > 0 ? o.max_absolute.value_or(0) / o.allowed : o.max_absolute.value_or(0);
  });
  std::string text = fmt::format("{}, {}: all within tolerance", samples_text(validation.items.size()),
                                 counted(static_cast<std::int64_t>(outputs.size()), "output", "outputs"));
  if (largest != outputs.end() && largest->max_absolute.value_or(0) > 0) {
    text += fmt::format("; the largest difference is {} in {}{}", difference_text(*largest->max_absolute),
                        quoted(largest->name), share_of_allowed(*largest));
  } else {
    text += "; all values are equal";
  }
  return {Tone::good, text, "outputs agree"};
}

Sentence difference(const Validation& validation, std::size_t index) {
  const OutputDifference& o = validation.outputs.outputs[index];
  if (!o.comparable)
    return {Tone::bad, fmt::format("output {} cannot be compared: it {}", quoted(o.name), printable(o.reason)),
            "not comparable"};
  const auto beyond = std::ranges::count_if(
      validation.samples, [&](const auto& sample) { return sample.output == index && !sample.within_tolerance; });
  std::string text = fmt::format("output {}: {} of {} beyond the tolerance, {} of {} values", quoted(o.name), beyond,
                                 samples_text(validation.items.size()), o.mismatched, o.element_count);
  if (o.max_absolute.value_or(0) > 0) {
    text += fmt::format("; the largest difference is {} at {} of {}: {:.6g} against {:.6g}, where {} is allowed",
                        difference_text(*o.max_absolute), position_text(o.max_absolute_index, o.shape),
                        sample_name(validation, o.max_absolute_item), o.candidate_at_max, o.reference_at_max,
                        difference_text(o.allowed));
  }
  // Where labels decide, outputs need not be alike.
  const bool decides = !validation.accuracy || !outcome_of(*validation.accuracy);
  return {decides ? Tone::bad : Tone::plain, text, "outputs differ"};
}

void add_outputs(const Validation& validation, std::vector<Sentence>& sentences) {
  if (validation.outputs.agree) sentences.push_back(agreement(validation));
  for (const Diagnostic& diagnostic : validation.outputs.diagnostics) {
    // Of the outputs as a whole; those of single outputs follow.
    const bool of_all =
        diagnostic.id == DiagnosticId::outputs_not_comparable && !diagnostic.message.starts_with("output '");
    if (of_all) sentences.push_back({Tone::bad, printable(diagnostic.message), "not comparable"});
  }
  for (std::size_t i = 0; i < validation.outputs.outputs.size(); ++i) {
    const OutputDifference& output = validation.outputs.outputs[i];
    if (!output.comparable || !output.within_tolerance) {
      sentences.push_back(difference(validation, i));
    } else if (!output.undecided.empty()) {
      const std::string text = fmt::format("output {} {}", quoted(output.name), printable(output.undecided));
      sentences.push_back({Tone::warning, text, "cannot tell"});
    }
  }
}

// What some figures are, where they are no usual number.
void add_oddities(const OutputDifference& o, std::vector<Sentence>& sentences) {
  if (!o.comparable) return;
  if (o.nan_reference + o.inf_reference > 0) {
    sentences.push_back({Tone::warning,
                         fmt::format("the baseline itself has {} NaN and {} infinite values in {}; the "
                                     "figures are of the others",
                                     o.nan_reference, o.inf_reference, quoted(o.name)),
                         "not finite"});
  }
  if (o.non_finite_apart > 0) {
    sentences.push_back({Tone::bad,
                         fmt::format("{}: {} NaN or infinite in one and not the same in the other "
                                     "({} NaN and {} infinite in the candidate)",
                                     quoted(o.name), counted(o.non_finite_apart, "value is", "values are"),
                                     o.nan_candidate, o.inf_candidate),
                         "not finite"});
  }
  if (o.data_range && *o.data_range == 0 && o.element_count > 1) {
    const bool equal = o.max_absolute == 0;
    sentences.push_back({Tone::plain,
                         fmt::format("{} is constant in the baseline: it correlates with nothing{}", quoted(o.name),
                                     equal ? ", and as both are equal PSNR is infinite"
                                           : ", and there is no range that PSNR could be relative to"),
                         "constant"});
  } else if (o.psnr_db && std::isinf(*o.psnr_db) && o.ssim) {
    sentences.push_back(
        {Tone::plain, fmt::format("{} is equal in both: PSNR is infinite (∞)", quoted(o.name)), "equal"});
  }
}

void add_floor(const Validation& validation, std::vector<Sentence>& sentences) {
  for (const OutputDifference& o : validation.again.outputs) {
    if (o.comparable && o.max_absolute.value_or(0) == 0 && o.non_finite_apart == 0) continue;
    if (!o.comparable || o.non_finite_apart > 0) {
      sentences.push_back(
          {Tone::warning,
           fmt::format("the baseline does not repeat itself in {}: {}", quoted(o.name),
                       o.comparable ? "values are NaN in one of two runs only" : "it " + printable(o.reason)),
           "does not repeat"});
      continue;
    }
    sentences.push_back(
        {Tone::warning,
         fmt::format("the baseline does not repeat itself: run twice on {}, {} differed by up to {}; no "
                     "tolerance is below that",
                     samples_text(validation.again_items), quoted(o.name), difference_text(o.max_absolute.value_or(0))),
         "does not repeat"});
  }
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
std::string worst_class(const AccuracyDrop& accuracy) {
  if (!accuracy.baseline.labels || !accuracy.candidate.labels) return "";
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

Tone accuracy_tone(const AccuracyDrop& accuracy) {
  const auto outcome = outcome_of(accuracy);
  if (!outcome) return accuracy.change && accuracy.change->interval.high < 0 ? Tone::warning : Tone::plain;
  return *outcome == Outcome::pass ? Tone::good : *outcome == Outcome::fail ? Tone::bad : Tone::warning;
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
  return fmt::format("; whether {} is exceeded cannot be told: more labelled data would", allowed);
}

void add_accuracy(const Validation& validation, std::vector<Sentence>& sentences) {
  if (!validation.accuracy) return;
  const AccuracyDrop& accuracy = *validation.accuracy;
  std::string text = fmt::format("{}: {} right, {} {}", accuracy.baseline.masks ? "pixels" : "accuracy",
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
  sentences.push_back({accuracy_tone(accuracy), text + worst_class(accuracy) + allowed_clause(accuracy), "accuracy"});
}

}  // namespace

std::vector<Sentence> validation_answers(const Validation& validation) {
  std::vector<Sentence> sentences;
  add_outputs(validation, sentences);
  add_accuracy(validation, sentences);
  add_floor(validation, sentences);
  for (const OutputDifference& output : validation.outputs.outputs) add_oddities(output, sentences);
  return sentences;
}

std::vector<Sentence> validation_sentences(const Validation& validation) {
  std::vector<Sentence> sentences = validation_answers(validation);
  for (const Diagnostic& diagnostic : validation.diagnostics) {
    if (info(diagnostic.id).severity == Severity::info && diagnostic.id != DiagnosticId::accuracy_not_told) continue;
    const std::string about = diagnostic.about.empty() ? "" : printable(diagnostic.about, 80) + ": ";
    sentences.push_back({Tone::plain, about + printable(diagnostic.message)});
  }
  const ValidationTimes& times = validation.times;
  sentences.push_back({Tone::plain, fmt::format("{}: {} the two models, {} the baseline once more, {} the inputs",
                                                format_time(times.whole_s), format_time(times.models_s),
                                                format_time(times.again_s), format_time(times.data_s))});
  return sentences;
}

}  // namespace infermeter
