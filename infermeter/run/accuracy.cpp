#include "infermeter/run/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "infermeter/fidelity/log_shares.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// What is right, for all rows of the data in their order: two subjects may take them in batches of other sizes.
struct Truth {
  std::vector<int> labels;
  std::vector<Tensor> masks;  // per item
  std::size_t classes = 0;    // that the labels are of, where the data say so; 0: they do not
  bool are_texts = false;     // items: what is right is the next token
  std::size_t tokens = 0;     // of the first text; all have as many, as the outputs of all items have one shape
};

Truth truth_in(const DataSet& data, bool asked_for, bool are_texts) {
  Truth truth;
  truth.are_texts = are_texts;
  truth.tokens = data.items.empty() ? 0 : data.items.front().labels.size();
  for (const DataItem& item : data.items) {
    truth.labels.insert(truth.labels.end(), item.labels.begin(), item.labels.end());
    if (item.mask) truth.masks.push_back(*item.mask);
  }
  // The folders of pictures are the classes only of a model that has as many.
  if (!asked_for && truth.masks.empty()) truth.classes = data.class_names.size();
  return truth;
}

// `rows`: of an item.
std::optional<std::size_t> output_of_truth(const ItemValues& outputs, const Truth& truth, std::size_t rows) {
  if (!truth.masks.empty()) return scores_for_mask(outputs, truth.masks.front());
  return scores_among(outputs, rows);
}

struct Counted {
  AccuracyTally tally;
  std::size_t output = 0;
  std::vector<double> text_losses{};
};

Error no_output_for(const Truth& truth) {
  if (!truth.masks.empty()) return no_scores_for_mask(truth.masks.front());
  return usage_error(
      fmt::format("no output has a row of scores for each label (floating-point numbers [rows, classes]){}",
                  truth.are_texts ? "; a language model gives them with output=logits" : ""));
}

Result<Done> add_labels(Counted& counted, const Tensor& scores, const Truth& truth, std::size_t& row) {
  const std::size_t rows = scores.shape.empty() ? 0 : static_cast<std::size_t>(scores.shape[0]);
  if (rows > truth.labels.size() - row) {
    return usage_error(fmt::format("the outputs have more rows than the {} labels", truth.labels.size()));
  }
  const auto labels = std::span(truth.labels).subspan(row, rows);
  INFERMETER_TRY_DONE(counted.tally.add(scores, labels));
  if (truth.are_texts) {
    INFERMETER_TRY(const auto loss, mean_log_loss(scores, labels));
    counted.text_losses.push_back(loss.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  row += rows;
  return Done{};
}

Result<Counted> count(const std::vector<ItemValues>& outputs, const Truth& truth, std::size_t rows) {
  Counted counted;
  std::size_t row = 0;
  for (std::size_t item = 0; item < outputs.size(); ++item) {
    const auto index = output_of_truth(outputs[item], truth, rows);
    if (!index || (item > 0 && *index != counted.output)) return no_output_for(truth);
    counted.output = *index;
    const Tensor& scores = outputs[item][*index].tensor;
    if (truth.classes > 0) INFERMETER_TRY_DONE(check_folder_classes(scores, truth.classes));
    if (truth.masks.empty()) {
      INFERMETER_TRY_DONE(add_labels(counted, scores, truth, row));
    } else if (item >= truth.masks.size()) {
      return usage_error("there are more outputs than masks");
    } else {
      INFERMETER_TRY_DONE(counted.tally.add_mask(scores, truth.masks[item]));
    }
  }
  return counted;
}

std::string output_name(const RunRecord& record, std::size_t subject, std::size_t output) {
  const Samples* trial = outputs_trial(record, subject);
  const bool named = trial != nullptr && output < trial->outputs.size();
  return named ? trial->outputs[output].name : fmt::format("output {}", output);
}

Result<std::optional<Counted>> count_of(const OutputsAtHand& at_hand, const Plan& plan, std::size_t subject,
                                        const Truth& truth) {
  INFERMETER_TRY(const auto outputs, at_hand.of(subject));
  if (outputs.empty()) return std::optional<Counted>();
  const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(plan.subjects[subject].batch_size, 1));
  INFERMETER_TRY(auto counted, count(outputs, truth, truth.are_texts ? truth.tokens : batch));
  return std::optional(std::move(counted));
}

SubjectAccuracy* accuracy_of(RunRecord& record, std::size_t subject) {
  const auto found = std::ranges::find(record.accuracy, static_cast<int>(subject), &SubjectAccuracy::subject);
  return found == record.accuracy.end() ? nullptr : &*found;
}

// What belongs together: the subject's own rows and those of the first one, as far as they are there by now.
// Where the two have batches of other sizes, other rows are left over, and there is no pairing.
bool pair_with_first(const OutputsAtHand& outputs, RunRecord& record, std::size_t subject, const Counted& own,
                     const Truth& truth) {
  SubjectAccuracy* accuracy = accuracy_of(record, subject);
  const std::size_t first = first_of_group(record.plan, subject);
  const bool of_rows = truth.masks.empty() && !truth.are_texts;
  if (accuracy == nullptr || first == subject || accuracy->paired || !of_rows) return false;
  auto reference = count_of(outputs, record.plan, first, truth);
  if (!reference.ok() || !*reference) return false;
  auto paired = pair_right((*reference)->tally.right(), own.tally.right());
  if (!paired.ok()) return false;
  accuracy->paired = *paired;
  return true;
}

Result<std::vector<int>> take(const OutputsAtHand& outputs, RunRecord& record, std::size_t subject,
                              const Truth& truth) {
  std::vector<int> changed;
  INFERMETER_TRY(const auto counted, count_of(outputs, record.plan, subject, truth));
  if (!counted) return changed;
  const std::size_t first = first_of_group(record.plan, subject);
  SubjectAccuracy accuracy{.subject = static_cast<int>(subject),
                           .accuracy = counted->tally.accuracy(),
                           .reference = first == subject ? std::nullopt : std::optional(static_cast<int>(first)),
                           .paired = {}};
  accuracy.accuracy.output = output_name(record, subject, counted->output);
  accuracy.text_losses = counted->text_losses;
  // As many as there are tokens, and of no use by themselves.
  if (truth.are_texts && accuracy.accuracy.labels) accuracy.accuracy.labels->classes.clear();
  record.accuracy.push_back(std::move(accuracy));
  changed.push_back(static_cast<int>(subject));
  pair_with_first(outputs, record, subject, *counted, truth);
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) {
    if (i == subject || first_of_group(record.plan, i) != subject || accuracy_of(record, i) == nullptr) continue;
    const auto other = count_of(outputs, record.plan, i, truth);
    const bool paired = other.ok() && *other && pair_with_first(outputs, record, i, **other, truth);
    if (paired) changed.push_back(static_cast<int>(i));
  }
  return changed;
}

const AccuracyTally* known_tally(const RunContext& context, const Subject& subject) {
  const auto found = context.accuracy.find(subject.model);
  return found == context.accuracy.end() ? nullptr : &found->second;
}

}  // namespace

Result<Done> keep_known_accuracy(Store& store, RunRecord& record, const RunContext& context) {
  const auto& subjects = record.plan.subjects;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const AccuracyTally* own = known_tally(context, subjects[i]);
    if (own == nullptr) continue;
    SubjectAccuracy accuracy{
        .subject = static_cast<int>(i), .accuracy = own->accuracy(), .reference = {}, .paired = {}};
    const std::size_t first = first_of_group(record.plan, i);
    if (first != i) {
      accuracy.reference = static_cast<int>(first);
      const AccuracyTally* reference = known_tally(context, subjects[first]);
      const bool of_labels = reference != nullptr && accuracy.accuracy.labels;
      if (of_labels) {
        INFERMETER_TRY(accuracy.paired, pair_right(reference->right(), own->right()));
      }
    }
    INFERMETER_TRY_DONE(store.set_accuracy(record.id, accuracy));
    record.accuracy.push_back(std::move(accuracy));
  }
  return Done{};
}

Result<std::vector<int>> take_accuracy(const OutputsAtHand& outputs, RunRecord& record, std::size_t subject,
                                       const DataSet& data) {
  const bool asked_for = !record.plan.data.labels.empty();
  const Truth truth = truth_in(data, asked_for, record.plan.data.labels == next_labels);
  if ((truth.labels.empty() && truth.masks.empty()) || accuracy_of(record, subject) != nullptr)
    return std::vector<int>();
  auto taken = take(outputs, record, subject, truth);
  const std::string& label = record.plan.subjects[subject].label;
  if (taken.ok() || taken.error().kind != ErrorKind::usage) return taken;
  if (asked_for) {
    return usage_error(fmt::format("{} does not fit the outputs of {}: {}", in_quotes(record.plan.data.labels),
                                   in_quotes(label), taken.error().message));
  }
  record.diagnostics.push_back(
      {.id = DiagnosticId::accuracy_not_told, .message = taken.error().message, .about = label});
  return std::vector<int>();
}

}  // namespace infermeter
