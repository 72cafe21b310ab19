#include "infermeter/fidelity/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "infermeter/fidelity/element_reader.hpp"

namespace infermeter {
namespace {

std::optional<double> share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

template <class Figure>
std::optional<double> mean_over(const std::vector<ClassOverlap>& classes, Figure figure) {
  double sum = 0;
  std::uint64_t count = 0;
  for (const ClassOverlap& overlap : classes) {
    if (const auto value = (overlap.*figure)()) {
      sum += *value;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

// NaN is above every number, as in NumPy's argmax.
bool above(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

// The place, from 0, that a score has among the others: those above it, and equal ones before it.
std::size_t place_of(std::span<const double> scores, std::size_t label) {
  const double own = scores[label];
  std::size_t place = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool before = i < label && !above(own, scores[i]);
    place += above(scores[i], own) || before ? 1 : 0;
  }
  return place;
}

Result<Done> check_scores(const Tensor& scores, std::size_t axes) {
  const DTypeClass kind = class_of(scores.dtype);
  if (kind != DTypeClass::real && kind != DTypeClass::integer) {
    return usage_error(
        fmt::format("scores are numbers, one per class, but this output is of {}", to_string(scores.dtype)));
  }
  if (scores.shape.size() < axes || (axes == 2 && scores.shape.size() > 2) || scores.shape[1] < 2) {
    return usage_error(fmt::format("scores have the shape {} with two classes or more, but this output has {}",
                                   axes == 2 ? "[rows, classes]" : "[rows, classes, ...]", to_string(scores.shape)));
  }
  if (!whole(scores)) {
    return usage_error(
        fmt::format("the scores have a number of values that does not fit their shape {}", to_string(scores.shape)));
  }
  return Done{};
}

Error no_class(double label, std::size_t classes) {
  return usage_error(
      fmt::format("label {:.0f} is not a class: the output has scores for classes 0 to {} ({} leaves one out)", label,
                  classes - 1, ignored_label));
}

ClassAccuracy& class_at(std::vector<ClassAccuracy>& classes, std::int64_t label) {
  const auto at = std::ranges::lower_bound(classes, label, {}, &ClassAccuracy::label);
  if (at != classes.end() && at->label == label) return *at;
  return *classes.insert(at, ClassAccuracy{.label = label});
}

// Overlaps by class. Neighbouring pixels mostly have the same one, which is looked up once.
class Overlaps {
 public:
  explicit Overlaps(const std::vector<ClassOverlap>& before) {
    for (const ClassOverlap& overlap : before) classes_.emplace(overlap.label, overlap);
  }

  void add(std::int64_t truth, std::int64_t predicted) {
    if (truth_ == nullptr || truth_->label != truth) truth_ = &at(truth);
    if (predicted_ == nullptr || predicted_->label != predicted) predicted_ = &at(predicted);
    ++truth_->truth;
    ++predicted_->predicted;
    if (truth == predicted) ++truth_->both;
  }

  [[nodiscard]] std::vector<ClassOverlap> sorted() const {
    std::vector<ClassOverlap> classes;
    for (const auto& [label, overlap] : classes_) classes.push_back(overlap);
    return classes;
  }

 private:
  ClassOverlap& at(std::int64_t label) {
    ClassOverlap& overlap = classes_[label];
    overlap.label = label;
    return overlap;
  }

  std::map<std::int64_t, ClassOverlap> classes_;  // its elements stay where they are
  ClassOverlap* truth_ = nullptr;
  ClassOverlap* predicted_ = nullptr;
};

// The class of each pixel: the first of the largest scores, or what a label map says.
class PredictedClasses {
 public:
  // Pixels of one row of scores, or of the whole label map.
  PredictedClasses(const Tensor& output, std::size_t classes, std::size_t pixels)
      : output_(output), classes_(classes), pixels_(pixels) {}

  // Of `count` (at most chunk_size) pixels of a row from `begin` on.
  std::span<const double> read(std::size_t row, std::size_t begin, std::size_t count) {
    if (classes_ == 0) {
      read_values(output_, row * pixels_ + begin, std::span(best_class_).first(count));
      return std::span(best_class_).first(count);
    }
    for (std::size_t label = 0; label < classes_; ++label) {
      read_values(output_, (row * classes_ + label) * pixels_ + begin, std::span(scores_).first(count));
      for (std::size_t i = 0; i < count; ++i) {
        if (label > 0 && !above(scores_[i], best_[i])) continue;
        best_[i] = scores_[i];
        best_class_[i] = static_cast<double>(label);
      }
    }
    return std::span(best_class_).first(count);
  }

 private:
  const Tensor& output_;
  std::size_t classes_, pixels_;
  std::array<double, chunk_size> scores_{}, best_{}, best_class_{};
};

// What is left of a shape without its classes.
Shape pixels_of(const Shape& scores) {
  Shape pixels = scores;
  pixels.erase(pixels.begin() + 1);
  return pixels;
}

bool is_label_map(const Tensor& output, const Tensor& mask) {
  const DTypeClass kind = class_of(output.dtype);
  return (kind == DTypeClass::integer || kind == DTypeClass::boolean) && output.shape == mask.shape;
}

// Scores [rows, classes, …] or a label map [rows, …] for a mask [rows, …].
bool fits_mask(const Value& output, const Tensor& mask) {
  if (output.kind != Value::Kind::tensor) return false;
  const Tensor& tensor = output.tensor;
  if (is_label_map(tensor, mask)) return true;
  const DTypeClass kind = class_of(tensor.dtype);
  if ((kind != DTypeClass::real && kind != DTypeClass::integer) || tensor.shape.size() != mask.shape.size() + 1)
    return false;
  return tensor.shape[1] >= 2 && pixels_of(tensor.shape) == mask.shape;
}

Result<Done> check_mask(const Tensor& output, const Tensor& mask) {
  const DTypeClass kind = class_of(mask.dtype);
  if (kind != DTypeClass::integer && kind != DTypeClass::boolean) {
    return usage_error(
        fmt::format("a mask has a class per pixel as an integer, but this one is of {}", to_string(mask.dtype)));
  }
  if (mask.shape.empty() || !whole(mask)) {
    return usage_error(
        fmt::format("the mask has a number of values that does not fit its shape {}", to_string(mask.shape)));
  }
  if (is_label_map(output, mask)) {
    if (whole(output)) return Done{};
    return usage_error(
        fmt::format("the output has a number of values that does not fit its shape {}", to_string(output.shape)));
  }
  INFERMETER_TRY_DONE(check_scores(output, 3));
  if (pixels_of(output.shape) != mask.shape) {
    return usage_error(fmt::format("the mask has shape {}, but scores of shape {} want one of {}",
                                   to_string(mask.shape), to_string(output.shape), to_string(pixels_of(output.shape))));
  }
  return Done{};
}

// Are these a class, and one that was said? `truth` is not the ignored label.
Result<Done> check_pixel(double truth, double predicted, std::size_t classes) {
  constexpr double most = 2147483647;  // of classes that label maps may have
  if (classes > 0 && !(truth >= 0 && truth < static_cast<double>(classes))) return no_class(truth, classes);
  for (const double label : {truth, predicted}) {
    if (label >= 0 && label <= most) continue;
    return usage_error(fmt::format("{} has {:.0f}, which is not a class ({} leaves a pixel of the mask out)",
                                   label == truth ? "the mask" : "the output", label, ignored_label));
  }
  return Done{};
}

}  // namespace

std::optional<double> LabelAccuracy::top1_share() const { return share_of(top1, rows); }
std::optional<double> LabelAccuracy::top5_share() const { return top5 ? share_of(*top5, rows) : std::nullopt; }
std::optional<double> ClassOverlap::iou() const { return share_of(both, truth + predicted - both); }
std::optional<double> ClassOverlap::dice() const { return share_of(2 * both, truth + predicted); }
std::optional<double> MaskAccuracy::share() const { return share_of(right, pixels); }
std::optional<double> MaskAccuracy::mean_iou() const { return mean_over(classes, &ClassOverlap::iou); }
std::optional<double> MaskAccuracy::mean_dice() const { return mean_over(classes, &ClassOverlap::dice); }

std::optional<double> Accuracy::share() const {
  if (labels) return labels->top1_share();
  return masks ? masks->share() : std::nullopt;
}

Result<Done> check_labelled(const Tensor& scores, std::span<const int> labels) {
  INFERMETER_TRY_DONE(check_scores(scores, 2));
  const auto rows = static_cast<std::size_t>(scores.shape[0]), classes = static_cast<std::size_t>(scores.shape[1]);
  if (labels.size() != rows) {
    return usage_error(fmt::format("there are {} labels for {} rows of scores", labels.size(), rows));
  }
  for (const int label : labels) {
    const bool known = label >= 0 && static_cast<std::size_t>(label) < classes;
    if (!known && label != ignored_label) return no_class(label, classes);
  }
  return Done{};
}

Result<Done> AccuracyTally::add(const Tensor& scores, std::span<const int> labels) {
  INFERMETER_TRY_DONE(check_labelled(scores, labels));
  const auto rows = static_cast<std::size_t>(scores.shape[0]), classes = static_cast<std::size_t>(scores.shape[1]);
  INFERMETER_TRY_DONE(same_classes(classes));
  if (!accuracy_.labels) accuracy_.labels.emplace();
  LabelAccuracy& sum = *accuracy_.labels;
  if (classes > 5 && !sum.top5) sum.top5 = 0;
  std::vector<double> row(classes);
  for (std::size_t i = 0; i < rows; ++i) {
    if (labels[i] == ignored_label) continue;
    read_values(scores, i * classes, row);
    const std::size_t place = place_of(row, static_cast<std::size_t>(labels[i]));
    ClassAccuracy& own = class_at(sum.classes, labels[i]);
    ++sum.rows;
    ++own.rows;
    sum.top1 += place == 0 ? 1 : 0;
    own.right += place == 0 ? 1 : 0;
    if (sum.top5) *sum.top5 += place < 5 ? 1 : 0;
    right_.push_back(place == 0);
  }
  return Done{};
}

Result<Done> AccuracyTally::add_mask(const Tensor& output, const Tensor& mask) {
  INFERMETER_TRY_DONE(check_mask(output, mask));
  const std::size_t classes = is_label_map(output, mask) ? 0 : static_cast<std::size_t>(output.shape[1]);
  INFERMETER_TRY_DONE(same_classes(classes));
  const auto rows = static_cast<std::size_t>(mask.shape[0]);
  const std::size_t pixels = rows == 0 ? 0 : *element_count(mask.shape) / rows;
  MaskAccuracy sum = accuracy_.masks.value_or(MaskAccuracy{});
  Overlaps overlaps(sum.classes);
  PredictedClasses predicted(output, classes, pixels);
  std::array<double, chunk_size> truth;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t begin = 0; begin < pixels; begin += chunk_size) {
      const std::size_t count = std::min(chunk_size, pixels - begin);
      read_values(mask, row * pixels + begin, std::span(truth).first(count));
      const auto got = predicted.read(row, begin, count);
      for (std::size_t i = 0; i < count; ++i) {
        if (truth[i] == static_cast<double>(ignored_label)) continue;
        INFERMETER_TRY_DONE(check_pixel(truth[i], got[i], classes));
        overlaps.add(static_cast<std::int64_t>(truth[i]), static_cast<std::int64_t>(got[i]));
        ++sum.pixels;
        sum.right += truth[i] == got[i] ? 1 : 0;
      }
    }
  }
  sum.classes = overlaps.sorted();
  accuracy_.masks = std::move(sum);
  return Done{};
}

Result<Done> AccuracyTally::same_classes(std::size_t classes) {
  if (classes_ && *classes_ != classes) {
    return usage_error(fmt::format("there are scores for {} classes, but for {} before", classes, *classes_));
  }
  classes_ = classes;
  return Done{};
}

Result<PairedRight> pair_right(const std::vector<bool>& reference, const std::vector<bool>& candidate) {
  if (reference.size() != candidate.size()) {
    return usage_error(fmt::format("rows cannot be paired: the reference has {} with a label, the other {}",
                                   reference.size(), candidate.size()));
  }
  PairedRight paired;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (reference[i]) ++(candidate[i] ? paired.both : paired.reference_only);
    if (!reference[i]) ++(candidate[i] ? paired.candidate_only : paired.neither);
  }
  return paired;
}

std::optional<std::size_t> scores_among(std::span<const Value> outputs, std::size_t rows) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].kind != Value::Kind::tensor) continue;
    const Tensor& tensor = outputs[i].tensor;
    if (class_of(tensor.dtype) != DTypeClass::real || tensor.shape.size() != 2) continue;
    if (tensor.shape[0] == static_cast<std::int64_t>(rows) && tensor.shape[1] >= 2) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> scores_for_mask(std::span<const Value> outputs, const Tensor& mask) {
  const auto found = std::ranges::find_if(outputs, [&](const Value& output) { return fits_mask(output, mask); });
  if (found == outputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - outputs.begin());
}

Error no_scores_for_mask(const Tensor& mask) {
  return usage_error(fmt::format("no output has scores [rows, classes, …] or a label map for a mask of shape {}",
                                 to_string(mask.shape)));
}

Result<Done> check_folder_classes(const Tensor& scores, std::size_t folders) {
  if (scores.shape[1] == static_cast<std::int64_t>(folders)) return Done{};
  return usage_error(
      fmt::format("the data's folders are {} classes, the output has scores for {}", folders, scores.shape[1]));
}

}  // namespace infermeter
