#include "infermeter/run/truth.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/fidelity/truth_quality.hpp"
#include "infermeter/run/outputs.hpp"
#include "infermeter/run/workload.hpp"

namespace infermeter {

bool may_have_truth(const RunRecord& record, std::size_t subject) {
  if (record.models[subject].format == workload_format) return true;
  const Samples* before = outputs_trial(record, subject);
  return before != nullptr &&
         std::ranges::find(before->outputs, truth_output, &OutputFacts::name) != before->outputs.end();
}

void note_quality(TrialResult& result) {
  if (result.output_values.empty()) return;
  std::vector<std::string> names;
  for (const OutputFacts& output : result.samples.outputs) names.push_back(output.name);
  const auto pair = truth_pair(names, result.output_values.front());
  if (!pair) return;
  const TruthQuality quality = quality_against_truth(*pair, result.output_values);
  std::vector<Counter> found;
  const auto note = [&](const char* name, const char* unit, std::optional<double> value) {
    if (value && std::isfinite(*value)) found.push_back({name, unit, *value});
  };
  note("truth_psnr_db", "dB", quality.psnr_db);
  note("truth_mse", "1", quality.mse);
  note("truth_correlation", "1", quality.correlation);
  note("truth_ssim", "1", quality.ssim);
  auto& counters = result.samples.counters;
  counters.insert(counters.begin(), found.begin(), found.end());  // in front: tables end somewhere
}

}  // namespace infermeter
