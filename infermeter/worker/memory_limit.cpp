#include "infermeter/worker/memory_limit.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <algorithm>

#include "infermeter/data/data_set.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/machine/proc_file.hpp"

namespace infermeter {
namespace {

// Without /proc what is free.
std::uint64_t available_memory() {
  if (const auto bytes = kilobytes_field(read_proc_file("/proc/meminfo"), "MemAvailable:")) return *bytes;
  struct sysinfo info{};
  return sysinfo(&info) == 0 ? std::uint64_t{info.freeram} * info.mem_unit : 0;
}

std::string in_unit_of(std::uint64_t limit, std::uint64_t bytes) {
  const ByteUnit unit = unit_of_size(limit);
  return fmt::format("{} {}", bytes / unit.bytes, unit.name);
}

}  // namespace

std::uint64_t memory_limit_in_force(std::uint64_t asked_bytes) {
  return asked_bytes > 0 ? asked_bytes : available_memory() / 10 * 8;
}

std::uint64_t most_bytes_of_data(std::uint64_t asked_bytes) {
  return std::min(kMostDataBytes, memory_limit_in_force(asked_bytes) / 3);
}

std::string over_the_limit(std::uint64_t limit_bytes, std::uint64_t bytes, std::string_view doing) {
  return fmt::format("out of memory: {} in memory{}{}, the limit is {}; --memory-limit sets it",
                     in_unit_of(limit_bytes, bytes), doing.empty() ? "" : " ", doing, size_to_string(limit_bytes));
}

}  // namespace infermeter
