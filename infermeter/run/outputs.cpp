#include "infermeter/run/outputs.hpp"

#include <algorithm>
#include <memory>

#include "infermeter/data/value_block.hpp"
#include "infermeter/run/accuracy.hpp"

namespace infermeter {
namespace {

constexpr std::size_t largest_block = 900'000'000;  // SQLite's limit for one value is 10^9 bytes

std::vector<Tolerance> tolerances(const Samples& reference, const Samples& candidate,
                                  std::span<const ItemValues> values) {
  std::vector<Tolerance> result;
  for (const Value& value : values.front()) {
    result.push_back(coarser_tolerance(reference.executed_value("dtype"), candidate.executed_value("dtype"), value));
  }
  return result;
}

bool compared(const RunRecord& record, std::size_t subject) {
  return std::any_of(record.outputs.begin(), record.outputs.end(),
                     [&](const SubjectOutputs& outputs) { return outputs.subject == static_cast<int>(subject); });
}

Result<Done> compare_with_reference(const OutputsAtHand& outputs, RunRecord& record, std::size_t subject,
                                    TakenOutputs& taken) {
  const std::size_t reference = first_of_group(record.plan, subject);
  const Samples* reference_trial = outputs_trial(record, reference);
  const Samples* candidate_trial = outputs_trial(record, subject);
  if (reference == subject || compared(record, subject) || reference_trial == nullptr || candidate_trial == nullptr) {
    return Done{};
  }
  INFERMETER_TRY(const auto expected, outputs.of(reference));
  INFERMETER_TRY(const auto got, outputs.of(subject));
  if (expected.empty() || got.empty()) return Done{};
  std::vector<std::string> names;
  for (const auto& output : reference_trial->outputs) names.push_back(output.name);
  names.resize(expected.front().size());
  record.outputs.push_back(
      {.subject = static_cast<int>(subject),
       .reference = static_cast<int>(reference),
       .comparison = compare_outputs(names, expected, got, tolerances(*reference_trial, *candidate_trial, expected))});
  taken.compared.push_back(static_cast<int>(subject));
  return Done{};
}

}  // namespace

bool wants_outputs(const RunRecord& record, std::size_t subject) {
  if (!record.plan.compare_outputs && record.plan.data.labels.empty()) return false;
  return outputs_trial(record, subject) == nullptr;
}

Result<TakenOutputs> take_outputs(Store& store, RunRecord& record, std::size_t subject, const Samples& trial,
                                  const TrialResult& result, const DataSet& data) {
  if (trial.end != TrialEnd::ok || result.output_block.size() == 0) return TakenOutputs{};
  if (result.output_block.size() > largest_block) {
    record.diagnostics.push_back({.id = DiagnosticId::outputs_not_comparable,
                                  .message = "the outputs are larger than 900 MB and were not kept for comparison",
                                  .about = record.plan.subjects[subject].label});
    return TakenOutputs{};
  }
  TakenOutputs taken{
      .subject = static_cast<int>(subject), .block = result.output_block.span(), .compared = {}, .accuracy = {}};
  const OutputsAtHand outputs(store, record, subject, taken.block);
  INFERMETER_TRY(taken.accuracy, take_accuracy(outputs, record, subject, data));
  if (!record.plan.compare_outputs) return taken;
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) {
    if (i == subject || first_of_group(record.plan, i) == subject) {
      INFERMETER_TRY_DONE(compare_with_reference(outputs, record, i, taken));
    }
  }
  return taken;
}

Result<Done> keep_outputs(Store& store, const RunRecord& record, const TakenOutputs& taken) {
  if (taken.block.empty()) return Done{};
  INFERMETER_TRY_DONE(store.keep_output_block(record.id, taken.subject, taken.block));
  for (const SubjectOutputs& outputs : record.outputs) {
    if (std::ranges::count(taken.compared, outputs.subject) > 0) {
      INFERMETER_TRY_DONE(store.set_outputs(record.id, outputs));
    }
  }
  for (const SubjectAccuracy& accuracy : record.accuracy) {
    if (std::ranges::count(taken.accuracy, accuracy.subject) > 0) {
      INFERMETER_TRY_DONE(store.set_accuracy(record.id, accuracy));
    }
  }
  return Done{};
}

}  // namespace infermeter
