#include "infermeter/trial/load/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "infermeter/data/value_block.hpp"

namespace infermeter {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double difference_of(const Tensor& reference, const Tensor& answer) {
  if (reference.dtype != answer.dtype || reference.shape != answer.shape) return kInfinite;
  const auto before = to_doubles(reference), after = to_doubles(answer);
  if (!before.ok() || !after.ok() || before->size() != after->size()) return kInfinite;
  double largest = 0, scale = 0;
  for (std::size_t i = 0; i < before->size(); ++i) {
    const double a = (*before)[i], b = (*after)[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!std::isfinite(a) || !std::isfinite(b)) return kInfinite;
    largest = std::max(largest, std::abs(a - b));
  }
  for (const double a : *before)
    if (std::isfinite(a)) scale = std::max(scale, std::abs(a));
  if (largest == 0) return 0;
  return scale > 0 ? largest / scale : kInfinite;
}

double difference_of(const Value& reference, const Value& answer) {
  if (reference.kind != answer.kind) return kInfinite;
  if (reference.kind == Value::Kind::tensor) return difference_of(reference.tensor, answer.tensor);
  return largest_difference(reference.elements, answer.elements);
}

}  // namespace

double largest_difference(std::span<const Value> reference, std::span<const Value> answer) {
  if (reference.size() != answer.size()) return kInfinite;
  double largest = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (digest(reference.subspan(i, 1)) != digest(answer.subspan(i, 1)))
      largest = std::max(largest, difference_of(reference[i], answer[i]));
  }
  return largest;
}

void Answers::keep(std::size_t item, ItemValues values) {
  const std::size_t bytes = block_size(std::span(&values, 1));
  if (bytes > kMostBytes - bytes_) return;
  bytes_ += bytes;
  answers_.push_back({item, std::move(values)});
}

void Answers::keep(Answers others) {
  for (Answer& answer : others.answers_) keep(answer.item, std::move(answer.values));
}

void Answers::check(std::size_t item, std::span<const Value> reference, LoadRecord& load) {
  for (const Answer& answer : answers_) {
    if (answer.item != item) continue;
    ++load.checked;
    const double difference = largest_difference(reference, answer.values);
    if (std::isfinite(difference)) {
      load.largest_difference = std::max(load.largest_difference, difference);
    } else {
      ++load.mismatched;
    }
  }
  std::erase_if(answers_, [item](const Answer& answer) { return answer.item == item; });
}

}  // namespace infermeter
