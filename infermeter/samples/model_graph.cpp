#include "infermeter/samples/model_graph.hpp"

namespace infermeter {

std::optional<std::uint64_t> GraphTensor::elements() const {
  if (!shape) return std::nullopt;
  std::uint64_t count = 1;
  for (const std::int64_t size : *shape) {
    if (size < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count)) return std::nullopt;
  }
  return count;
}

}  // namespace infermeter
