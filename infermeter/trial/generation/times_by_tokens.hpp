// TimesByTokens: times by how many tokens they belong to, counted in memory that does not grow with them.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "infermeter/samples/generation/generation_record.hpp"

namespace infermeter {

class TimesByTokens {
 public:
  void add(std::uint64_t tokens, std::uint64_t ticks);
  void merge(const TimesByTokens& other);
  [[nodiscard]] std::vector<TimesOfTokens> times(double tick_s) const;

 private:
  // Most of the buckets of a LogHistogram would be empty.
  struct Bin {
    double tokens = 0;  // of all times together
    std::unordered_map<std::uint32_t, std::uint64_t> counts;
  };
  std::map<std::uint32_t, Bin> bins_;
};

}  // namespace infermeter
