// Outputs against what is known to be right: class labels, and masks of segmentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// A label, or a pixel of a mask, that stands for "not known" and is left out.
inline constexpr std::int64_t ignored_label = -1;

struct ClassAccuracy {
  std::int64_t label = 0;
  std::uint64_t rows = 0, right = 0;  // rows that have this label, and those of them whose top-1 is right
};

struct LabelAccuracy {
  std::uint64_t rows = 0, top1 = 0;
  std::optional<std::uint64_t> top5;   // nullopt: not more than five classes
  std::vector<ClassAccuracy> classes;  // those that are among the labels, ascending

  [[nodiscard]] std::optional<double> top1_share() const;  // top1 / rows, in [0, 1]; nullopt without rows
  [[nodiscard]] std::optional<double> top5_share() const;
};

struct ClassOverlap {
  std::int64_t label = 0;
  std::uint64_t both = 0, truth = 0, predicted = 0;  // pixels

  [[nodiscard]] std::optional<double> iou() const;   // both / (truth + predicted - both) (Jaccard 1912); nullopt: 0 / 0
  [[nodiscard]] std::optional<double> dice() const;  // 2 both / (truth + predicted) (Dice 1945); nullopt: 0 / 0
};

struct MaskAccuracy {
  std::uint64_t pixels = 0, right = 0;  // less the ignored ones
  std::vector<ClassOverlap> classes;    // those in the truth or predicted, ascending

  [[nodiscard]] std::optional<double> share() const;     // right / pixels, in [0, 1]; nullopt without pixels
  [[nodiscard]] std::optional<double> mean_iou() const;  // over classes that have one
  [[nodiscard]] std::optional<double> mean_dice() const;
};

// Of one subject over all data. At most one of the two.
struct Accuracy {
  std::string output;  // that was read as scores
  std::optional<LabelAccuracy> labels;
  std::optional<MaskAccuracy> masks;

  // Share of rows, or of pixels, that are right, in [0, 1].
  [[nodiscard]] std::optional<double> share() const;
};

// Rows (items, or batch elements) that the two get right: the paired table of McNemar (1947).
struct PairedRight {
  std::uint64_t both = 0, reference_only = 0, candidate_only = 0, neither = 0;
};

// The errors of AccuracyTally::add that one item shows by itself.
[[nodiscard]] Result<Done> check_labelled(const Tensor& scores, std::span<const int> labels);

// Adds up over data items. Scores are [rows, classes] with a label per row, or [rows, classes, …] with a mask [rows,
// …]; of at least two classes, as many in every item. The first of the largest scores counts; NaN counts as the
// largest, as in NumPy. A score is among the five largest if fewer than five others are larger, or equal and before it.
class AccuracyTally {
 public:
  // Errors (usage) name what does not fit: a number of labels that is not that of the rows, a label that is no class.
  [[nodiscard]] Result<Done> add(const Tensor& scores, std::span<const int> labels);
  // mask: integers, of the shape [rows, …]. `output`: scores, or integers of the mask's shape, which are classes
  // themselves.
  [[nodiscard]] Result<Done> add_mask(const Tensor& output, const Tensor& mask);

  [[nodiscard]] const Accuracy& accuracy() const { return accuracy_; }
  // Per labelled row, in order, less the ignored ones: is its top-1 right? Of masks: empty.
  [[nodiscard]] const std::vector<bool>& right() const { return right_; }

 private:
  [[nodiscard]] Result<Done> same_classes(std::size_t classes);

  Accuracy accuracy_;
  std::vector<bool> right_;
  std::optional<std::size_t> classes_;  // 0: classes themselves
};

// Of two tallies over the same rows; an error if their numbers differ.
[[nodiscard]] Result<PairedRight> pair_right(const std::vector<bool>& reference, const std::vector<bool>& candidate);

// The output that is read as scores where nobody names one: the first of floating-point numbers whose rows are those of
// the labels and that has at least two classes. nullopt: none.
[[nodiscard]] std::optional<std::size_t> scores_among(std::span<const Value> outputs, std::size_t rows);

// The one that is compared with a mask [rows, …]: the first that is scores [rows, classes, …] or a label map [rows, …].
[[nodiscard]] std::optional<std::size_t> scores_for_mask(std::span<const Value> outputs, const Tensor& mask);
// Where there is none.
[[nodiscard]] Error no_scores_for_mask(const Tensor& mask);

// An error where scores are not of as many classes as the data's folders are.
[[nodiscard]] Result<Done> check_folder_classes(const Tensor& scores, std::size_t folders);

}  // namespace infermeter
