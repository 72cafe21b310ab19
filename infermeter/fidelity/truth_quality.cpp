#include "infermeter/fidelity/truth_quality.hpp"

#include <algorithm>

#include "infermeter/data/distribution.hpp"
#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/fidelity/ssim.hpp"

namespace infermeter {
namespace {

bool is_real_tensor(const Value& value) {
  const DType dtype = value.tensor.dtype;
  return value.kind == Value::Kind::tensor && is_float(dtype) && dtype != DType::complex64 &&
         dtype != DType::complex128;
}

std::optional<double> mean_ssim(const TruthPair& pair, std::span<const ItemValues> items, double range) {
  double sum = 0;
  for (const ItemValues& item : items) {
    const auto ssim = structural_similarity(item[pair.truth].tensor, item[pair.judged].tensor, {.data_range = range});
    if (!ssim.ok()) return std::nullopt;  // it is no picture: too small, or a list
    sum += *ssim;
  }
  return sum / static_cast<double>(items.size());
}

}  // namespace

std::optional<TruthPair> truth_pair(std::span<const std::string> names, const ItemValues& outputs) {
  const auto found = std::ranges::find(names, truth_output);
  const auto truth = static_cast<std::size_t>(found - names.begin());
  if (found == names.end() || truth >= outputs.size() || !is_real_tensor(outputs[truth])) return std::nullopt;
  const Tensor& wanted = outputs[truth].tensor;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = outputs[i].tensor;
    if (i == truth || !is_real_tensor(outputs[i])) continue;
    if (tensor.dtype == wanted.dtype && tensor.shape == wanted.shape) return TruthPair{truth, i};
  }
  return std::nullopt;
}

TruthQuality quality_against_truth(const TruthPair& pair, std::span<const ItemValues> items) {
  std::vector<ItemValues> truth, judged;
  for (const ItemValues& item : items) {
    truth.push_back({item[pair.truth]});
    judged.push_back({item[pair.judged]});
  }
  const std::string name(truth_output);
  const OutputComparison comparison = compare_outputs(std::span(&name, 1), truth, judged, {});
  if (comparison.outputs.empty() || !comparison.outputs.front().comparable) return {};
  const OutputDifference& difference = comparison.outputs.front();
  TruthQuality quality{
      .psnr_db = difference.psnr_db, .mse = difference.mse, .correlation = difference.pearson, .ssim = {}};
  if (difference.data_range && *difference.data_range > 0)
    quality.ssim = mean_ssim(pair, items, *difference.data_range);
  return quality;
}

}  // namespace infermeter
