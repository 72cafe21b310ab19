#include "infermeter/fidelity/output_comparer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "infermeter/fidelity/difference_tally.hpp"
#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/pair_values.hpp"
#include "infermeter/fidelity/score_rows.hpp"
#include "infermeter/fidelity/ssim.hpp"
#include "infermeter/text/counts.hpp"

namespace infermeter {
namespace {

std::string shortened(std::string_view text) {
  return text.size() <= 80 ? std::string(text) : std::string(text.substr(0, 77)) + "...";
}

const Value* value_at(const ItemValues& values, std::size_t index) {
  return index < values.size() ? &values[index] : nullptr;
}

bool is_complex(const Tensor& tensor) { return class_of(tensor.dtype) == DTypeClass::complex; }

std::string place_of_largest(const OutputDifference& difference) {
  const std::string item =
      difference.max_absolute_item > 0 ? fmt::format(" of item {}", difference.max_absolute_item) : std::string();
  return place_text(difference.max_absolute_index, difference.shape, difference.dtype) + item;
}

std::string differ_message(const OutputDifference& d) {
  std::string message = fmt::format("output '{}': {} of {} values {} beyond the tolerance", shortened(d.name),
                                    d.mismatched, d.element_count, d.mismatched == 1 ? "is" : "are");
  if (d.max_absolute.value_or(0) > 0) {
    message +=
        fmt::format("; the largest difference is {:.3g} at {}, where the reference has {:.9g} and this has {:.9g}",
                    *d.max_absolute, place_of_largest(d), d.reference_at_max, d.candidate_at_max);
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
  } else if (!d.undecided.empty()) {
    out.push_back({DiagnosticId::outputs_undecided, fmt::format("output '{}' {}", shortened(d.name), d.undecided), {}});
  }
  if (d.non_finite_apart > 0) {
    out.push_back(
        {DiagnosticId::outputs_not_finite,
         fmt::format("output '{}': {} NaN or infinite and not the same on both sides (NaN: {} in the reference, {} "
                     "here; infinite: {} and {})",
                     shortened(d.name), counted(d.non_finite_apart, "value is", "values are"), d.nan_reference,
                     d.nan_candidate, d.inf_reference, d.inf_candidate),
         {}});
  }
}

std::optional<double> ssim_of(std::span<const TensorPair> pairs) {
  if (pairs.size() != 1) return std::nullopt;
  const auto options = image_like(pairs.front().reference->dtype, pairs.front().reference->shape);
  if (!options) return std::nullopt;
  const auto ssim = structural_similarity(*pairs.front().reference, *pairs.front().candidate, *options);
  return ssim.ok() && std::isfinite(*ssim) ? std::optional(*ssim) : std::nullopt;
}

// Nothing of what is no row of integers.
std::optional<Parting> parting_of(std::span<const TensorPair> pairs, std::size_t item) {
  if (pairs.size() != 1) return std::nullopt;
  const Tensor& reference = *pairs.front().reference;
  if (class_of(reference.dtype) != DTypeClass::integer || reference.shape.size() != 1 || reference.shape[0] == 0)
    return std::nullopt;
  std::vector<double> expected(static_cast<std::size_t>(reference.shape[0])), got(expected.size());
  read_values(reference, 0, expected);
  read_values(*pairs.front().candidate, 0, got);
  const auto position = static_cast<std::size_t>(std::ranges::mismatch(expected, got).in1 - expected.begin());
  Parting parting{.item = item, .position = position, .length = expected.size()};
  const auto part = [](std::span<const double> values) { return std::vector(values.begin(), values.end()); };
  const std::size_t before = std::min(position, kMostBeforeParting);
  const std::size_t behind = std::min(expected.size() - position, kMostFromParting);
  parting.before = part(std::span(expected).subspan(position - before, before));
  parting.reference = part(std::span(expected).subspan(position, behind));
  parting.candidate = part(std::span(got).subspan(position, behind));
  return parting;
}

// Sums over items that a mean is made of at the end.
struct Mean {
  double sum = 0;
  std::uint64_t count = 0;

  void add(double value) { sum += value, ++count; }
  [[nodiscard]] std::optional<double> value() const {
    return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
  }
};

// One output over all items.
class OutputState {
 public:
  OutputState(std::string name, std::optional<Tolerance> tolerance) : tolerance_(tolerance) {
    difference_.name = std::move(name);
  }

  // Output `index` of the next items, the first of which is item `first`.
  void add(std::span<const ItemValues> reference, std::span<const ItemValues> candidate, std::size_t index,
           std::size_t first) {
    const std::size_t begin = samples_.size();
    std::vector<std::vector<TensorPair>> pairs;
    for (std::size_t i = 0; i < std::min(reference.size(), candidate.size()) && difference_.reason.empty(); ++i) {
      describe(value_at(reference[i], index), value_at(candidate[i], index));
      pairs.emplace_back();
      difference_.reason = pair(value_at(reference[i], index), value_at(candidate[i], index), first + i, pairs.back());
      if (!difference_.reason.empty()) break;
      add_item(pairs.back(), first + i, index);
    }
    for (std::size_t i = begin; i < samples_.size(); ++i) count_mismatched(samples_[i], pairs[i - begin]);
  }

  [[nodiscard]] OutputDifference difference(std::vector<SampleDifference>& samples) const {
    OutputDifference result = difference_;
    result.comparable = result.reason.empty();
    result.tolerance = tolerance();
    if (!result.comparable) return result;
    copy_figures(result);
    result.allowed = bound();
    result.within_tolerance = true;
    for (SampleDifference sample : samples_) {
      sample.within_tolerance = is_within(sample);
      if (sample.within_tolerance) sample.mismatched = 0;
      result.mismatched += sample.mismatched;
      result.within_tolerance = result.within_tolerance && sample.within_tolerance;
      samples.push_back(sample);
    }
    if (result.within_tolerance) result.undecided = why_undecided();
    return result;
  }

 private:
  [[nodiscard]] Tolerance tolerance() const {
    return tolerance_ ? *tolerance_ : default_tolerance("float32", described_ ? dtype_ : DType::float32);
  }

  [[nodiscard]] double bound() const {
    const Tolerance allowed = tolerance();
    return std::max(allowed.floor, allowed.absolute + allowed.relative * tally_.largest_reference);
  }

  // A tolerance that somebody asked for decides. So does being the same, unless it is only that nothing is there.
  [[nodiscard]] std::string why_undecided() const {
    const Tolerance allowed = tolerance();
    const double scale = tally_.largest_reference;
    const bool is_same = tally_.max_absolute == 0 && scale > 0;
    if (tally_.count == 0 || is_same || allowed.floor <= allowed.absolute || scale > 2 * allowed.floor) return {};
    if (tally_.finite == 0) return "has no finite number in either, so nothing can be concluded";
    if (tally_.max_absolute == 0) return "is 0 throughout in both, so nothing can be concluded";
    return fmt::format("has no value above {:.3g}, and differences up to {:.3g} say nothing", scale, allowed.floor);
  }

  // The reference's word counts; the other's if it has none.
  void describe(const Value* reference, const Value* candidate) {
    if (described_) return;
    for (const Value* value : {reference, candidate}) {
      if (value == nullptr || value->kind != Value::Kind::tensor || !difference_.dtype.empty()) continue;
      difference_.dtype = to_string(value->tensor.dtype);
      difference_.shape = value->tensor.shape;
      dtype_ = value == reference ? value->tensor.dtype : DType::float32;
    }
    described_ = true;
  }

  static std::string pair(const Value* reference, const Value* candidate, std::size_t item,
                          std::vector<TensorPair>& pairs) {
    if (reference == nullptr) return "is not among the reference's outputs";
    if (candidate == nullptr) return "is missing here";
    return pair_values(*reference, *candidate, item, pairs);
  }

  void add_item(std::span<const TensorPair> pairs, std::size_t item, std::size_t index) {
    DifferenceTally tally;
    std::uint64_t texts = 0, texts_apart = 0;
    for (const TensorPair& one : pairs) {
      if (class_of(one.reference->dtype) == DTypeClass::text) {
        texts += one.reference->strings.size();
        for (std::size_t i = 0; i < one.reference->strings.size(); ++i) {
          texts_apart += one.reference->strings[i] != one.candidate->strings[i] ? 1 : 0;
        }
        continue;
      }
      tally.add(*one.reference, *one.candidate, tally.count);
      add_rows(*one.reference, *one.candidate);
    }
    parts_ = !pairs.empty() && is_complex(*pairs.front().reference) ? 2 : 1;
    if (tally.max_absolute > tally_.max_absolute) max_item_ = item;
    tally_.add(tally);
    text_count_ += texts;
    samples_.push_back(sample_of(tally, item, index));
    SampleDifference& sample = samples_.back();
    sample.element_count += texts;
    sample.mismatched = texts_apart;
    sample.ssim = ssim_of(pairs);
    if (sample.ssim) ssim_.add(*sample.ssim);
    note_parting(sample, parting_of(pairs, item));
  }

  void note_parting(SampleDifference& sample, std::optional<Parting> parting) {
    if (!parting) return;
    sample.agreed_prefix = static_cast<double>(parting->position) / static_cast<double>(parting->length);
    prefix_.add(*sample.agreed_prefix);
    if (parting->position < parting->length && difference_.partings.size() < kMostPartings)
      difference_.partings.push_back(*std::move(parting));
  }

  void add_rows(const Tensor& reference, const Tensor& candidate) {
    const auto agreement = agreeing_rows(reference, candidate);
    all_scores_ = all_scores_ && agreement.has_value();
    if (!agreement) return;
    all_top5_ = all_top5_ && agreement->top5.has_value();
    rows_.rows += agreement->rows;
    rows_.top1 += agreement->top1;
    rows_.top5 = rows_.top5.value_or(0) + agreement->top5.value_or(0);
    if (!rows_.divergence || !agreement->divergence) {
      rows_.divergence.reset();
    } else {
      *rows_.divergence += *agreement->divergence;
    }
  }

  [[nodiscard]] SampleDifference sample_of(const DifferenceTally& all, std::size_t item, std::size_t index) const {
    const DifferenceTally tally = all.of_errors();
    SampleDifference sample;
    sample.item = item;
    sample.output = index;
    sample.element_count = all.count / parts_;
    sample.non_finite_apart = all.non_finite_apart;
    sample.max_absolute = tally.largest_difference();
    sample.max_absolute_index = tally.max_absolute_index / parts_;
    sample.reference_at_max = tally.reference_at_max;
    sample.candidate_at_max = tally.candidate_at_max;
    set_figures(sample, tally);
    return sample;
  }

  void count_mismatched(SampleDifference& sample, std::span<const TensorPair> pairs) const {
    if (sample.non_finite_apart == 0 && sample.max_absolute.value_or(0) <= bound()) return;
    for (const TensorPair& one : pairs) {
      if (class_of(one.reference->dtype) == DTypeClass::text) continue;
      sample.mismatched += count_beyond(*one.reference, *one.candidate, bound());
    }
  }

  // Texts that differ are mismatched whatever the bound is, and come without numbers.
  [[nodiscard]] bool is_within(const SampleDifference& sample) const {
    const bool numbers_agree = sample.non_finite_apart == 0 && sample.max_absolute.value_or(0) <= bound();
    return numbers_agree && (text_count_ == 0 || sample.mismatched == 0);
  }

  void copy_figures(OutputDifference& difference) const {
    difference.element_count = tally_.count / parts_ + text_count_;
    const DifferenceTally errors = tally_.of_errors();
    difference.max_absolute = errors.largest_difference();
    difference.max_absolute_item = errors.finite > 0 ? max_item_ : 0;
    difference.max_absolute_index = errors.max_absolute_index / parts_;
    difference.reference_at_max = errors.reference_at_max;
    difference.candidate_at_max = errors.candidate_at_max;
    set_figures(difference, errors);
    if (tally_.non_finite_apart == 0) difference.ssim = ssim_.value();
    difference.agreed_prefix = prefix_.value();
    difference.nan_reference = tally_.nan_reference;
    difference.nan_candidate = tally_.nan_candidate;
    difference.inf_reference = tally_.inf_reference;
    difference.inf_candidate = tally_.inf_candidate;
    difference.non_finite_apart = tally_.non_finite_apart;
    if (!all_scores_ || rows_.rows == 0) return;
    difference.top1_agreement = static_cast<double>(rows_.top1) / static_cast<double>(rows_.rows);
    if (rows_.divergence) difference.kl_divergence = *rows_.divergence / static_cast<double>(rows_.rows);
    if (all_top5_) difference.top5_agreement = static_cast<double>(*rows_.top5) / static_cast<double>(rows_.rows);
  }

  std::optional<Tolerance> tolerance_;
  OutputDifference difference_;
  DType dtype_ = DType::float32;
  bool described_ = false;
  DifferenceTally tally_;
  std::uint64_t parts_ = 1;  // numbers of an element: two of complex ones
  std::uint64_t text_count_ = 0;
  std::size_t max_item_ = 0;
  Mean ssim_, prefix_;
  RowAgreement rows_;
  bool all_scores_ = true, all_top5_ = true;
  std::vector<SampleDifference> samples_;
};

bool is_undecided(std::span<const OutputDifference> outputs) {
  const auto is_one = [](const OutputDifference& output) { return !output.undecided.empty(); };
  const auto differs_too = [&](const OutputDifference& output) {
    return is_one(output) && output.max_absolute.value_or(0) > 0;
  };
  return std::ranges::any_of(outputs, differs_too) || (!outputs.empty() && std::ranges::all_of(outputs, is_one));
}

std::size_t most_outputs(std::span<const ItemValues> items) {
  std::size_t most = 0;
  for (const ItemValues& item : items) most = std::max(most, item.size());
  return most;
}

}  // namespace

struct OutputComparer::State {
  std::vector<std::string> names;
  std::vector<Tolerance> tolerances;
  std::vector<OutputState> outputs;
  std::size_t reference_items = 0, candidate_items = 0;
  std::size_t reference_outputs = 0, candidate_outputs = 0;

  // The items as a whole: their number, and the number of outputs.
  [[nodiscard]] std::string problem() const {
    if (reference_items == 0 || candidate_items == 0) return "there are no outputs to compare";
    if (reference_items != candidate_items) {
      return fmt::format("there are outputs for {} data items here but for {} in the reference", candidate_items,
                         reference_items);
    }
    if (reference_outputs == candidate_outputs) return {};
    return fmt::format("there are {} outputs here but {} in the reference", candidate_outputs, reference_outputs);
  }

  void make_outputs(std::size_t count) {
    while (outputs.size() < count) {
      const std::size_t i = outputs.size();
      std::string name = i < names.size() && !names[i].empty() ? names[i] : fmt::format("output {}", i);
      outputs.emplace_back(std::move(name), i < tolerances.size() ? std::optional(tolerances[i]) : std::nullopt);
    }
  }
};

OutputComparer::OutputComparer(std::span<const std::string> names, std::span<const Tolerance> tolerances)
    : state_(std::make_unique<State>()) {
  state_->names.assign(names.begin(), names.end());
  state_->tolerances.assign(tolerances.begin(), tolerances.end());
}
OutputComparer::OutputComparer(OutputComparer&&) noexcept = default;
OutputComparer& OutputComparer::operator=(OutputComparer&&) noexcept = default;
OutputComparer::~OutputComparer() = default;

void OutputComparer::add(std::span<const ItemValues> reference, std::span<const ItemValues> candidate) {
  State& state = *state_;
  const std::size_t first = std::min(state.reference_items, state.candidate_items);
  state.reference_items += reference.size();
  state.candidate_items += candidate.size();
  state.reference_outputs = std::max(state.reference_outputs, most_outputs(reference));
  state.candidate_outputs = std::max(state.candidate_outputs, most_outputs(candidate));
  if (reference.empty() || candidate.empty()) return;
  state.make_outputs(std::max(state.reference_outputs, state.candidate_outputs));
  for (std::size_t i = 0; i < state.outputs.size(); ++i) state.outputs[i].add(reference, candidate, i, first);
}

ComparedOutputs OutputComparer::result() const {
  ComparedOutputs compared;
  OutputComparison& whole = compared.whole;
  whole.items = std::min(state_->reference_items, state_->candidate_items);
  const std::string problem = state_->problem();
  if (!problem.empty()) whole.diagnostics.push_back({DiagnosticId::outputs_not_comparable, problem, {}});
  whole.agree = problem.empty();
  for (const OutputState& output : state_->outputs) {
    whole.outputs.push_back(output.difference(compared.samples));
    const OutputDifference& difference = whole.outputs.back();
    whole.agree = whole.agree && difference.comparable && difference.within_tolerance;
    diagnose(difference, whole.diagnostics);
  }
  whole.undecided = whole.agree && is_undecided(whole.outputs);
  whole.agree = whole.agree && !whole.undecided;
  std::ranges::stable_sort(compared.samples, {}, &SampleDifference::item);
  return compared;
}

}  // namespace infermeter
