// How far the outputs of two subjects are apart, and the tolerance that decides whether they agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/fidelity/difference_figures.hpp"

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

// Of an output that was recorded elsewhere, in a precision that nobody knows: that of ONNX's own test runner, or that
// of the executed precision where this is wider; of a sequence that of the element that has the widest.
[[nodiscard]] Tolerance recorded_tolerance(std::string_view executed_precision, const Value& recorded);

// Where two rows of integers, as the tokens of two answers are, stop being the same.
struct Parting {
  std::size_t item = 0;        // the data item
  std::uint64_t position = 0;  // of the first value that differs, from 0; `length`: all are the same
  std::uint64_t length = 0;    // values of each
  // At most kMostBeforeParting values that both have before it, and kMostFromParting of each from it on.
  std::vector<double> before{}, reference{}, candidate{};
  // What these are as text, at most kMostPartingText bytes of UTF-8 each; nullopt: no tokenizer is known. Where the
  // last token that both have ends within a character, the texts part before that character.
  std::optional<std::string> before_text{}, reference_text{}, candidate_text{};
};
inline constexpr std::size_t kMostPartings = 8, kMostBeforeParting = 8, kMostFromParting = 16, kMostPartingText = 1024;

struct OutputDifference : DifferenceFigures {
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
  // As in DifferenceFigures, and 0 of nothing.
  std::optional<double> max_absolute{};
  std::size_t max_absolute_item = 0;     // the data item it is in
  std::uint64_t max_absolute_index = 0;  // flat, row-major, in that item (of a sequence: through its tensors)
  double reference_at_max = 0, candidate_at_max = 0;
  std::uint64_t nan_reference = 0, nan_candidate = 0, inf_reference = 0, inf_candidate = 0;
  std::uint64_t mismatched = 0;        // elements beyond tolerance, strings that differ, non_finite_apart
  std::uint64_t non_finite_apart = 0;  // NaN or infinite in one and not the same in the other
  Tolerance tolerance;
  double allowed = 0;               // the largest |candidate - reference| that is within the tolerance
  std::vector<Parting> partings{};  // of the first items that part
};

// Where an element is: "[0, 1, 12, 34]", of images (image_like) "[0, 1, 12, 34], row 12, column 34", without a shape
// "element 7". `index` is flat, row-major.
[[nodiscard]] std::string place_text(std::uint64_t index, const Shape& shape, std::string_view dtype);

struct OutputComparison {
  bool agree = false;  // every output comparable and within tolerance, and that says something
  // Nothing differs, and yet nothing can be determined: of no output, or of one whose values are not the same in both.
  bool undecided = false;
  std::size_t items = 0;                  // data items compared
  std::vector<OutputDifference> outputs;  // over all items
  std::vector<Diagnostic> diagnostics;
};

}  // namespace infermeter
