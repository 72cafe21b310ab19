#include "infermeter/trial/machine/memory_probe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "infermeter/trial/machine/proc_file.hpp"

namespace infermeter {

MemoryProbe::MemoryProbe() : clear_refs_(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)) {}

MemoryProbe::~MemoryProbe() {
  if (clear_refs_ >= 0) close(clear_refs_);
}

std::optional<std::uint64_t> MemoryProbe::resident() const {
  return kilobytes_field(read_proc_file("/proc/self/status"), "VmRSS:");
}

std::optional<std::uint64_t> MemoryProbe::peak() const {
  return kilobytes_field(read_proc_file("/proc/self/status"), "VmHWM:");
}

std::optional<std::uint64_t> MemoryProbe::proportional() const {
  return kilobytes_field(read_proc_file("/proc/self/smaps_rollup"), "\nPss:");
}

bool MemoryProbe::reset_peak() const { return clear_refs_ >= 0 && pwrite(clear_refs_, "5", 1, 0) == 1; }

std::optional<std::uint64_t> kilobytes_field(std::string_view text, std::string_view key) {
  const auto kilobytes = number_after(text, key);
  if (!kilobytes || *kilobytes == 0 || *kilobytes > UINT64_MAX / 1024) return std::nullopt;
  return *kilobytes * 1024;
}

}  // namespace infermeter
