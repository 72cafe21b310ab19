#include "infermeter/validate/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "infermeter/fidelity/log_shares.hpp"

namespace infermeter {
namespace {

std::optional<std::size_t> output_for(const DataItem& item, const ItemValues& outputs) {
  return item.mask ? scores_for_mask(outputs, *item.mask) : scores_among(outputs, item.labels.size());
}

Error no_output(const DataItem& item) {
  if (item.mask) return no_scores_for_mask(*item.mask);
  return usage_error(
      fmt::format("no output has a row of scores for each of {} labels (floating-point numbers [rows, "
                  "classes])",
                  item.labels.size()));
}

std::string name_of(std::optional<std::size_t> output, std::span<const std::string> names) {
  return output && *output < names.size() ? names[*output] : fmt::format("output {}", output.value_or(0));
}

}  // namespace

Result<Done> ValidationLabels::add(Side& side, const DataItem& item, const ItemValues& outputs) const {
  const auto index = output_for(item, outputs);
  if (!index || (side.output && *side.output != *index)) return no_output(item);
  side.output = index;
  const Tensor& scores = outputs[*index].tensor;
  if (item.mask) {
    const MaskAccuracy before = side.tally.accuracy().masks.value_or(MaskAccuracy{});
    INFERMETER_TRY_DONE(side.tally.add_mask(scores, *item.mask));
    const MaskAccuracy& now = *side.tally.accuracy().masks;
    const MaskAccuracy own{.pixels = now.pixels - before.pixels, .right = now.right - before.right, .classes = {}};
    if (const auto share = own.share()) side.shares.push_back(*share);
    return Done{};
  }
  if (classes_ > 0) INFERMETER_TRY_DONE(check_folder_classes(scores, classes_));
  if (are_texts_) return add_text(side, scores, item.labels);
  return side.tally.add(scores, item.labels);
}

Result<Done> ValidationLabels::add_text(Side& side, const Tensor& scores, std::span<const int> labels) {
  const LabelAccuracy before = side.tally.accuracy().labels.value_or(LabelAccuracy{});
  INFERMETER_TRY_DONE(side.tally.add(scores, labels));
  const LabelAccuracy& now = *side.tally.accuracy().labels;
  const LabelAccuracy own{.rows = now.rows - before.rows, .top1 = now.top1 - before.top1, .top5 = {}, .classes = {}};
  if (const auto share = own.top1_share()) side.shares.push_back(*share);
  INFERMETER_TRY(const auto loss, mean_log_loss(scores, labels));
  side.losses.push_back(loss.value_or(std::numeric_limits<double>::infinity()));
  return Done{};
}

Result<Done> ValidationLabels::add_all(const DataSet& data, std::span<const ItemValues> baseline,
                                       std::span<const ItemValues> candidate) {
  if (!asked_) classes_ = data.class_names.size();
  for (std::size_t i = 0; i < data.items.size() && i < baseline.size() && i < candidate.size(); ++i) {
    const DataItem& item = data.items[i];
    if (item.labels.empty() && !item.mask) continue;
    any_ = true;
    masks_ = masks_ || item.mask.has_value();
    INFERMETER_TRY_DONE(add(baseline_, item, baseline[i]));
    INFERMETER_TRY_DONE(add(candidate_, item, candidate[i]));
  }
  return Done{};
}

Result<Done> ValidationLabels::add(const DataSet& data, std::span<const ItemValues> baseline,
                                   std::span<const ItemValues> candidate) {
  if (!misfit_.empty()) return Done{};
  const auto added = add_all(data, baseline, candidate);
  if (added.ok()) return Done{};
  if (asked_) return usage_error("--labels: " + added.error().message);
  misfit_ = added.error().message;
  return Done{};
}

Result<std::optional<AccuracyDrop>> ValidationLabels::result(std::span<const std::string> names) const {
  if (allowed_ && (!any_ || !misfit_.empty())) {
    return usage_error(misfit_.empty() ? "a drop of accuracy can only be judged with labels: give "
                                         "--labels FILE, or --data with a folder for each class"
                                       : "a drop of accuracy cannot be judged: " + misfit_ + " (--labels)");
  }
  if (!any_ || !misfit_.empty()) return std::optional<AccuracyDrop>();
  AccuracyDrop drop{.baseline = baseline_.tally.accuracy(), .candidate = candidate_.tally.accuracy()};
  drop.baseline.output = name_of(baseline_.output, names);
  drop.candidate.output = name_of(candidate_.output, names);
  drop.allowed = allowed_;
  if (masks_ || are_texts_) {
    judge_items(drop, baseline_.shares, candidate_.shares);
    return std::optional(std::move(drop));
  }
  INFERMETER_TRY(drop.paired, pair_right(baseline_.tally.right(), candidate_.tally.right()));
  judge_labels(drop);
  return std::optional(std::move(drop));
}

std::optional<PerplexityChange> ValidationLabels::perplexity() const {
  const auto is_known = [](double loss) { return std::isfinite(loss); };
  if (!are_texts_ || !misfit_.empty() || !std::ranges::all_of(baseline_.losses, is_known) ||
      !std::ranges::all_of(candidate_.losses, is_known))
    return std::nullopt;
  return compare_perplexity(baseline_.losses, candidate_.losses);
}

}  // namespace infermeter
