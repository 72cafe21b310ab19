#include "infermeter/verdict/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "infermeter/stats/summary/process_interval.hpp"

namespace infermeter {
namespace {

std::optional<Interval> wilson(const Accuracy& accuracy, double confidence) {
  if (!accuracy.labels || accuracy.labels->rows == 0) return std::nullopt;
  return proportion_interval(accuracy.labels->top1, accuracy.labels->rows, confidence);
}

}  // namespace

bool RecordedValidation::agree() const {
  return std::ranges::all_of(sets, [](const RecordedSet& set) { return set.outputs.agree; });
}

void judge_labels(AccuracyDrop& accuracy, double confidence) {
  accuracy.baseline_interval = wilson(accuracy.baseline, confidence);
  accuracy.candidate_interval = wilson(accuracy.candidate, confidence);
  if (!accuracy.paired) return;
  const PairedRight& rows = *accuracy.paired;
  if (rows.both + rows.reference_only + rows.candidate_only + rows.neither == 0) return;
  accuracy.change = compare_paired(rows.both, rows.reference_only, rows.candidate_only, rows.neither, confidence);
}

void judge_items(AccuracyDrop& accuracy, const std::vector<double>& baseline_shares,
                 const std::vector<double>& candidate_shares, double confidence) {
  const std::size_t count = std::min(baseline_shares.size(), candidate_shares.size());
  if (count < 2) return;
  std::vector<double> changes(count);
  for (std::size_t i = 0; i < count; ++i) changes[i] = candidate_shares[i] - baseline_shares[i];
  const Centre centre = arithmetic_centre_of(changes, confidence);
  if (!centre.interval) return;
  accuracy.change = {.difference = centre.value, .interval = *centre.interval, .p_value = 1};
}

std::optional<Outcome> outcome_of(const PerplexityChange& perplexity) {
  if (!perplexity.allowed) return std::nullopt;
  if (!perplexity.interval) return Outcome::inconclusive;
  if (perplexity.interval->high <= *perplexity.allowed) return Outcome::pass;
  return perplexity.interval->low > *perplexity.allowed ? Outcome::fail : Outcome::inconclusive;
}

std::optional<Outcome> outcome_by_truth(const Validation& validation) {
  const auto by_accuracy = validation.accuracy ? outcome_of(*validation.accuracy) : std::nullopt;
  const auto by_perplexity = validation.perplexity ? outcome_of(*validation.perplexity) : std::nullopt;
  if (!by_accuracy || !by_perplexity) return by_accuracy ? by_accuracy : by_perplexity;
  for (const Outcome worse : {Outcome::fail, Outcome::inconclusive}) {
    if (*by_accuracy == worse || *by_perplexity == worse) return worse;
  }
  return Outcome::pass;
}

std::optional<Outcome> outcome_of(const AccuracyDrop& accuracy) {
  if (!accuracy.allowed) return std::nullopt;
  if (!accuracy.change) return Outcome::inconclusive;
  const Interval& change = accuracy.change->interval;
  if (change.low >= -*accuracy.allowed) return Outcome::pass;
  return change.high < -*accuracy.allowed ? Outcome::fail : Outcome::inconclusive;
}

Outcome outcome_of(const Validation& validation) {
  const auto judged = outcome_by_truth(validation);
  if (!judged) {
    if (validation.outputs.undecided) return Outcome::inconclusive;
    return validation.outputs.agree ? Outcome::pass : Outcome::fail;
  }
  const bool comparable = std::ranges::none_of(validation.outputs.diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.id == DiagnosticId::outputs_not_comparable;
  });
  return comparable ? *judged : Outcome::fail;
}

double share_of_allowed(const SampleDifference& sample, const OutputDifference& output) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (sample.non_finite_apart > 0) return kInfinity;
  const double largest = sample.max_absolute.value_or(0);
  if (largest == 0) return sample.mismatched > 0 ? kInfinity : 0;
  return output.allowed > 0 ? largest / output.allowed : kInfinity;
}

std::vector<std::size_t> worst_samples(const Validation& validation, std::size_t count) {
  std::map<std::size_t, std::size_t> worst;  // item -> its sample
  const auto share = [&](std::size_t index) {
    const SampleDifference& sample = validation.samples[index];
    return share_of_allowed(sample, validation.outputs.outputs.at(sample.output));
  };
  // Of two that are both infinitely bad the one with more that is wrong.
  const auto is_worse = [&](std::size_t a, std::size_t b) {
    const double first = share(a), second = share(b);
    return first != second ? first > second : validation.samples[a].mismatched > validation.samples[b].mismatched;
  };
  for (std::size_t i = 0; i < validation.samples.size(); ++i) {
    const auto [place, is_new] = worst.try_emplace(validation.samples[i].item, i);
    if (!is_new && is_worse(i, place->second)) place->second = i;
  }
  std::vector<std::size_t> order;
  for (const auto& [item, sample] : worst) order.push_back(sample);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::ranges::stable_sort(order, is_worse);
  order.erase(end, order.end());
  return order;
}

}  // namespace infermeter
