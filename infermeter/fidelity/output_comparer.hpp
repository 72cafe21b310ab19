// OutputComparer: outputs of any number of data items compared as they come, so that no more of them are held than one
// part. Products: the comparison over all items, and the figures of each item.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infermeter/data/tensor.hpp"
#include "infermeter/fidelity/output_difference.hpp"

namespace infermeter {

// One output of one data item. Formulas as in OutputDifference (`of_samples` in the catalogue), over this item's
// values; relative figures are relative to this item's reference.
struct SampleDifference : DifferenceFigures {
  std::size_t item = 0, output = 0;
  bool within_tolerance = false;  // by the tolerance over all items: if all samples are, the whole is, and only then
  std::uint64_t element_count = 0, mismatched = 0, non_finite_apart = 0;
  std::optional<double> max_absolute{};
  std::uint64_t max_absolute_index = 0;
  double reference_at_max = 0, candidate_at_max = 0;
};

struct ComparedOutputs {
  OutputComparison whole;
  std::vector<SampleDifference> samples;  // by item, then by output; of outputs that can be compared
};

class OutputComparer {
 public:
  // As in compare_outputs.
  OutputComparer(std::span<const std::string> names, std::span<const Tolerance> tolerances);
  OutputComparer(OutputComparer&&) noexcept;
  OutputComparer& operator=(OutputComparer&&) noexcept;
  ~OutputComparer();

  // The next items' outputs. How many values of an item are beyond the tolerance is counted with the largest reference
  // up to and with this call; whether an item is within is decided with that over all.
  void add(std::span<const ItemValues> reference, std::span<const ItemValues> candidate);

  // What has been added so far.
  [[nodiscard]] ComparedOutputs result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infermeter
