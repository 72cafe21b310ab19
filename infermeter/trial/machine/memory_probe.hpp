// MemoryProbe: what of this process is in memory, as the kernel counts it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace infermeter {

class MemoryProbe {
 public:
  // Opens what resetting needs at once: a sandbox that comes later may forbid to open it.
  MemoryProbe();
  ~MemoryProbe();
  MemoryProbe(const MemoryProbe&) = delete;
  MemoryProbe& operator=(const MemoryProbe&) = delete;

  [[nodiscard]] std::optional<std::uint64_t> resident() const;      // VmRSS
  [[nodiscard]] std::optional<std::uint64_t> peak() const;          // VmHWM: since the process began or the last reset
  [[nodiscard]] std::optional<std::uint64_t> proportional() const;  // Pss of smaps_rollup; walks all page tables
  // Sets the peak to what is resident now (5 to clear_refs, proc(5)); false where the kernel does not let us.
  [[nodiscard]] bool reset_peak() const;

 private:
  int clear_refs_;
};

// "VmRSS:      1234 kB" -> 1263616; nothing if the key is not there or its figure is 0.
[[nodiscard]] std::optional<std::uint64_t> kilobytes_field(std::string_view text, std::string_view key);

}  // namespace infermeter
