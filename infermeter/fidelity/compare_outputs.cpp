#include "infermeter/fidelity/compare_outputs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "infermeter/fidelity/difference_tally.hpp"
#include "infermeter/fidelity/pair_values.hpp"

namespace infermeter {
namespace {

std::string shortened(std::string_view text) {
  return text.size() <= 80 ? std::string(text) : std::string(text.substr(0, 77)) + "...";
}

template <class Use>
void each_chunk(const TensorPair& pair, Use use) {
  ElementChunk chunk;
  const std::size_t count = values_in(pair.reference->dtype, *element_count(pair.reference->shape));
  for (std::size_t begin = 0; begin < count; begin += chunk_size) {
    read_chunk(*pair.reference, *pair.candidate, begin, std::min(chunk_size, count - begin), chunk);
    use(chunk, begin);
  }
}

bool is_text(const TensorPair& pair) { return class_of(pair.reference->dtype) == DTypeClass::text; }

bool is_complex(const std::vector<TensorPair>& pairs) {
  return !pairs.empty() && class_of(pairs.front().reference->dtype) == DTypeClass::complex;
}

// One output over all items: first what the numbers are, then, where the largest is too large, how many are.
class OutputWalk {
 public:
  explicit OutputWalk(std::vector<TensorPair> pairs) : pairs_(std::move(pairs)) {}

  void fill(OutputDifference& difference) {
    for (const TensorPair& pair : pairs_) is_text(pair) ? compare_texts(pair) : tally(pair);
    copy_figures(difference);
    const double bound = difference.tolerance.absolute + difference.tolerance.relative * tally_.largest_reference;
    const bool numbers_agree = tally_.non_finite_apart == 0 && tally_.max_absolute <= bound;
    difference.mismatched = texts_apart_ + (numbers_agree ? 0 : beyond(bound));
    difference.within_tolerance = difference.mismatched == 0;
    difference.top1_agreement = top1_agreement();
  }

 private:
  void tally(const TensorPair& pair) {
    if (pair.item != item_) {
      item_ = pair.item;
      index_in_item_ = 0;
    }
    const double before = tally_.max_absolute;
    tally_.add(*pair.reference, *pair.candidate, index_in_item_);
    if (tally_.max_absolute > before) max_item_ = pair.item;
    index_in_item_ += values_in(pair.reference->dtype, *element_count(pair.reference->shape));
  }

  void compare_texts(const TensorPair& pair) {
    text_count_ += pair.reference->strings.size();
    for (std::size_t i = 0; i < pair.reference->strings.size(); ++i) {
      texts_apart_ += pair.reference->strings[i] != pair.candidate->strings[i] ? 1 : 0;
    }
  }

  void copy_figures(OutputDifference& difference) const {
    difference.element_count = tally_.count / (is_complex(pairs_) ? 2 : 1) + text_count_;
    difference.max_absolute = tally_.max_absolute;
    difference.max_absolute_item = max_item_;
    difference.max_absolute_index = tally_.max_absolute_index / (is_complex(pairs_) ? 2 : 1);
    difference.reference_at_max = tally_.reference_at_max;
    difference.candidate_at_max = tally_.candidate_at_max;
    difference.mae = tally_.mae();
    difference.mse = tally_.mse();
    difference.rmse = tally_.rmse();
    difference.relative_l1 = tally_.relative_l1();
    difference.relative_l2 = tally_.relative_l2();
    difference.relative_max = tally_.relative_max();
    difference.cosine = tally_.cosine();
    difference.pearson = tally_.pearson();
    difference.data_range = tally_.data_range();
    difference.psnr_db = tally_.psnr_db();
    difference.nan_reference = tally_.nan_reference;
    difference.nan_candidate = tally_.nan_candidate;
    difference.inf_reference = tally_.inf_reference;
    difference.inf_candidate = tally_.inf_candidate;
    difference.non_finite_apart = tally_.non_finite_apart;
  }

  std::uint64_t beyond(double bound) const {
    std::uint64_t count = 0;
    for (const TensorPair& pair : pairs_) {
      if (is_text(pair)) continue;
      count += count_beyond(*pair.reference, *pair.candidate, bound);
    }
    return count;
  }

  // It looks like a classifier's scores if every item is [rows, classes] of a floating-point type.
  std::optional<double> top1_agreement() const {
    std::uint64_t rows = 0;
    std::uint64_t agreeing = 0;
    for (const TensorPair& pair : pairs_) {
      const Shape& shape = pair.reference->shape;
      if (class_of(pair.reference->dtype) != DTypeClass::real || shape.size() != 2 || shape[1] < 2) return std::nullopt;
      rows += static_cast<std::uint64_t>(shape[0]);
      agreeing += agreeing_rows(pair);
    }
    if (rows == 0) return std::nullopt;
    return static_cast<double>(agreeing) / static_cast<double>(rows);
  }

  // The first of the largest values of a row; NaN counts as the largest, as in NumPy.
  struct Top {
    double value = 0;
    std::size_t column = 0;
    void see(double candidate, std::size_t at) {
      if (at == 0 || (!std::isnan(value) && (std::isnan(candidate) || candidate > value))) *this = {candidate, at};
    }
  };

  static std::uint64_t agreeing_rows(const TensorPair& pair) {
    const auto columns = static_cast<std::size_t>(pair.reference->shape[1]);
    std::uint64_t agreeing = 0;
    Top reference, candidate;
    each_chunk(pair, [&](const ElementChunk& chunk, std::size_t begin) {
      for (std::size_t i = 0; i < chunk.size; ++i) {
        const std::size_t column = (begin + i) % columns;
        reference.see(chunk.reference[i], column);
        candidate.see(chunk.candidate[i], column);
        if (column + 1 == columns && reference.column == candidate.column) ++agreeing;
      }
    });
    return agreeing;
  }

  std::vector<TensorPair> pairs_;
  DifferenceTally tally_;
  std::size_t item_ = 0, max_item_ = 0;
  std::uint64_t index_in_item_ = 0;
  std::uint64_t text_count_ = 0, texts_apart_ = 0;
};

const Value* value_at(const ItemValues& values, std::size_t index) {
  return index < values.size() ? &values[index] : nullptr;
}

// Pairs of output `index` over all items, or why there are none.
std::string collect(std::span<const ItemValues> reference, std::span<const ItemValues> candidate, std::size_t index,
                    std::vector<TensorPair>& pairs) {
  for (std::size_t item = 0; item < std::min(reference.size(), candidate.size()); ++item) {
    const Value* expected = value_at(reference[item], index);
    const Value* got = value_at(candidate[item], index);
    if (expected == nullptr) return "is not among the reference's outputs";
    if (got == nullptr) return "is missing here";
    std::string problem = pair_values(*expected, *got, item, pairs);
    if (!problem.empty()) return problem;
  }
  return {};
}

void describe(const Value& value, OutputDifference& difference) {
  if (value.kind != Value::Kind::tensor) return;
  difference.dtype = to_string(value.tensor.dtype);
  difference.shape = value.tensor.shape;
}

std::string index_text(const OutputDifference& difference) {
  const std::string item =
      difference.max_absolute_item > 0 ? fmt::format(" of item {}", difference.max_absolute_item) : std::string();
  if (difference.shape.empty()) return fmt::format("element {}{}", difference.max_absolute_index, item);
  Shape position(difference.shape.size());
  auto rest = difference.max_absolute_index;
  for (std::size_t axis = position.size(); axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(difference.shape[axis], 1));
    position[axis] = static_cast<std::int64_t>(rest % extent);
    rest /= extent;
  }
  return to_string(position) + item;
}

std::string differ_message(const OutputDifference& d) {
  std::string message = fmt::format("output '{}': {} of {} values are beyond the tolerance", shortened(d.name),
                                    d.mismatched, d.element_count);
  if (d.max_absolute > 0) {
    message +=
        fmt::format("; the largest difference is {:.3g} at {}, where the reference has {:.9g} and this has {:.9g}",
                    d.max_absolute, index_text(d), d.reference_at_max, d.candidate_at_max);
  }
  if (d.relative_l2) message += fmt::format("; relative L2 {:.3g}", *d.relative_l2);
  return message;
}

void diagnose(const OutputDifference& d, std::vector<Diagnostic>& out) {
  if (!d.comparable) {
    out.push_back(
        {DiagnosticId::outputs_not_comparable, fmt::format("output '{}' {}", shortened(d.name), d.reason), {}});
  } else if (!d.within_tolerance) {
    out.push_back({DiagnosticId::outputs_differ, differ_message(d), {}});
  }
  if (d.non_finite_apart > 0) {
    out.push_back(
        {DiagnosticId::outputs_not_finite,
         fmt::format("output '{}': {} values are NaN or infinite and not the same on both sides (NaN: {} in the "
                     "reference, {} here; infinite: {} and {})",
                     shortened(d.name), d.non_finite_apart, d.nan_reference, d.nan_candidate, d.inf_reference,
                     d.inf_candidate),
         {}});
  }
}

std::size_t most_outputs(std::span<const ItemValues> items) {
  std::size_t most = 0;
  for (const ItemValues& item : items) most = std::max(most, item.size());
  return most;
}

// The items as a whole: their number, and the number of outputs.
std::string shape_of_run(std::span<const ItemValues> reference, std::span<const ItemValues> candidate) {
  if (reference.empty() || candidate.empty()) return "there are no outputs to compare";
  if (reference.size() != candidate.size()) {
    return fmt::format("there are outputs for {} data items here but for {} in the reference", candidate.size(),
                       reference.size());
  }
  const std::size_t expected = most_outputs(reference);
  const std::size_t got = most_outputs(candidate);
  if (expected != got) return fmt::format("there are {} outputs here but {} in the reference", got, expected);
  return {};
}

OutputDifference compare_one(std::string name, const Tolerance* tolerance, std::span<const ItemValues> reference,
                             std::span<const ItemValues> candidate, std::size_t index) {
  OutputDifference difference;
  difference.name = std::move(name);
  for (const auto* items : {&reference, &candidate}) {  // the reference's word counts; the other's if it has none
    const Value* value = items->empty() ? nullptr : value_at(items->front(), index);
    if (value != nullptr && difference.dtype.empty()) describe(*value, difference);
  }
  const Value* expected = reference.empty() ? nullptr : value_at(reference.front(), index);
  const bool tensor = expected != nullptr && expected->kind == Value::Kind::tensor;
  difference.tolerance = tolerance != nullptr
                             ? *tolerance
                             : default_tolerance("float32", tensor ? expected->tensor.dtype : DType::float32);
  std::vector<TensorPair> pairs;
  difference.reason = collect(reference, candidate, index, pairs);
  difference.comparable = difference.reason.empty();
  if (difference.comparable) OutputWalk(std::move(pairs)).fill(difference);
  return difference;
}

}  // namespace

OutputComparison compare_outputs(std::span<const std::string> names, std::span<const ItemValues> reference,
                                 std::span<const ItemValues> candidate, std::span<const Tolerance> tolerances) {
  OutputComparison comparison;
  comparison.items = std::min(reference.size(), candidate.size());
  const std::string problem = shape_of_run(reference, candidate);
  if (!problem.empty()) comparison.diagnostics.push_back({DiagnosticId::outputs_not_comparable, problem, {}});
  const std::size_t outputs = comparison.items == 0 ? 0 : std::max(most_outputs(reference), most_outputs(candidate));
  bool all = problem.empty();
  for (std::size_t i = 0; i < outputs; ++i) {
    std::string name = i < names.size() && !names[i].empty() ? names[i] : fmt::format("output {}", i);
    const Tolerance* tolerance = i < tolerances.size() ? &tolerances[i] : nullptr;
    comparison.outputs.push_back(compare_one(std::move(name), tolerance, reference, candidate, i));
    const OutputDifference& difference = comparison.outputs.back();
    all = all && difference.comparable && difference.within_tolerance;
    diagnose(difference, comparison.diagnostics);
  }
  comparison.agree = all;
  return comparison;
}

}  // namespace infermeter
