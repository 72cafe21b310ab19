#include "infermeter/fidelity/compare_outputs.hpp"

#include "infermeter/fidelity/output_comparer.hpp"

namespace infermeter {

OutputComparison compare_outputs(std::span<const std::string> names, std::span<const ItemValues> reference,
                                 std::span<const ItemValues> candidate, std::span<const Tolerance> tolerances) {
  OutputComparer comparer(names, tolerances);
  comparer.add(reference, candidate);
  return comparer.result().whole;
}

}  // namespace infermeter
