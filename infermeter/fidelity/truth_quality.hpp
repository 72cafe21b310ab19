// Outputs that say themselves what is true: an output named "truth" is what the first other output of its type and
// shape should have been (a reconstruction's object, a restored picture's original).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

inline constexpr std::string_view truth_output = "truth";

struct TruthPair {
  std::size_t truth = 0, judged = 0;  // places in the list of outputs
};
// By names and values of one data item's outputs. nullopt: there is no truth, or nothing like it; both are of floats.
[[nodiscard]] std::optional<TruthPair> truth_pair(std::span<const std::string> names, const ItemValues& outputs);

// Over all items; as compare_outputs has them, against the truth. PSNR and SSIM are relative to the truth's range; SSIM
// is of the last two dimensions, and the mean over all before. nullopt: it has no value there.
struct TruthQuality {
  std::optional<double> psnr_db, mse, correlation, ssim;
};
[[nodiscard]] TruthQuality quality_against_truth(const TruthPair& pair, std::span<const ItemValues> items);

}  // namespace infermeter
