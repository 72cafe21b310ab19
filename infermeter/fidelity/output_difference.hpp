// How far the outputs of two subjects are apart, and the tolerance that decides whether they agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/diagnostic.hpp"

namespace infermeter {

// |candidate - reference| <= absolute + relative * scale, where scale is the largest finite |reference| of that output
// over all items; or <= floor, where that is more.
struct Tolerance {
  double relative = 0;
  double absolute = 0;  // what somebody asked for: no default knows how large outputs are
  // Differences that say nothing: those between numbers that the type cannot resolve, and what the reference differs
  // from itself by when it is run again.
  double floor = 0;
};

// By the lower of the two executed precisions ("float32", "bfloat16", …) and the output's own dtype
// (docs/methodology.md). Integers, booleans and strings: exact. Its absolute part is 0.
[[nodiscard]] Tolerance default_tolerance(std::string_view executed_precision, DType output);
// Of an output of the reference, by the coarser of the precisions in which the two were executed.
[[nodiscard]] Tolerance coarser_tolerance(std::string_view one, std::string_view other, const Value& output);

struct OutputDifference {
  std::string name;
  std::string dtype;
  Shape shape;
  bool comparable = true;  // same kind, shape, dtype class; `reason` says why not
  std::string reason;
  bool within_tolerance = false;
  // Why being within the tolerance says nothing: all of the reference lies within the tolerance's floor, so that other
  // values of that size would be within it too. Empty: it says something.
  std::string undecided;
  std::uint64_t element_count = 0;
  // Figures of errors are over the pairs in which both are finite. nullopt where there is no such pair, where a value
  // is finite in one and not in the other (the error is no number then), or where the formula has no value
  // (fidelity/difference_tally.hpp).
  std::optional<double> max_absolute{};
  std::size_t max_absolute_item = 0;     // the data item it is in
  std::uint64_t max_absolute_index = 0;  // flat, row-major, in that item (of a sequence: through its tensors)
  double reference_at_max = 0, candidate_at_max = 0;
  std::optional<double> mae{}, mse{}, rmse{};
  std::optional<double> relative_l1{};   // ||c - r||1 / ||r||1; nullopt if r is 0
  std::optional<double> relative_l2{};   // ||c - r||2 / ||r||2; nullopt if r is 0
  std::optional<double> relative_max{};  // max |c - r| / max |r|; nullopt if r is 0
  std::optional<double> cosine{};        // nullopt if either is 0
  std::optional<double> pearson{};       // nullopt if either is constant
  std::optional<double> data_range{};  // what PSNR and SSIM are relative to: the reference's largest less its smallest
  std::optional<double> psnr_db{};     // +infinity where both are equal
  std::optional<double> ssim{};        // mean over items; only where it is an image (fidelity/ssim.hpp)
  // Share of rows with the same largest score, and of rows whose reference's largest is among the candidate's five
  // largest; only where it is a classifier, and top-5 only with more than five classes.
  std::optional<double> top1_agreement{}, top5_agreement{};
  std::uint64_t nan_reference = 0, nan_candidate = 0, inf_reference = 0, inf_candidate = 0;
  std::uint64_t mismatched = 0;        // elements beyond tolerance, strings that differ, non_finite_apart
  std::uint64_t non_finite_apart = 0;  // NaN or infinite in one and not the same in the other
  Tolerance tolerance;
  double allowed = 0;  // the largest |candidate - reference| that is within the tolerance
};

struct OutputComparison {
  bool agree = false;  // every output comparable and within tolerance, and that says something
  // Nothing differs, and yet nothing can be told: of no output, or of one whose values are not the same in both.
  bool undecided = false;
  std::size_t items = 0;                  // data items compared
  std::vector<OutputDifference> outputs;  // over all items
  std::vector<Diagnostic> diagnostics;
};

}  // namespace infermeter
