// RawStacks: what a sampler saw of a process, before anything is named. Addresses are those of that process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace infermeter {

struct RawSample {
  std::int64_t monotonic_ns = 0;         // CLOCK_MONOTONIC
  std::uint32_t thread = 0;              // the kernel's number of it
  std::vector<std::uint64_t> addresses;  // innermost first: where it was, then where each caller goes on
  // To be unwound: what the registers held, in the kernel's order (bits of kSampledRegisters), and the stack's top.
  std::vector<std::uint64_t> registers{};
  std::vector<std::byte> stack{};
};

// Executable memory of the process.
struct MappedCode {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t file_offset = 0;
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;  // 0: no file
  std::string path;         // as the kernel reports it; hostile
  bool operator==(const MappedCode&) const = default;
};

struct RawStacks {
  std::string method;              // as TrialStacks::method
  std::string detail;              // how, and how often: "perf_event_open, cpu-clock at 499 Hz, frame pointers"
  std::string reason;              // why it is no better method, one sentence; empty: none is
  std::int64_t origin_ns = 0;      // of the trial's times, on CLOCK_MONOTONIC
  std::uint32_t process = 0;       // its main thread has the same number
  std::vector<RawSample> samples;  // in order of time
  std::vector<MappedCode> code;
  std::map<std::uint32_t, std::string> threads;  // the kernel's names; hostile
  std::string jit_map;     // of code made at run time: "begin size name" per line, hexadecimal; hostile
  std::uint64_t lost = 0;  // samples that the kernel had no room for
  bool cut = false;        // there was more than is kept
};

// The registers that samples to be unwound hold, as bits of the kernel's numbers (asm/perf_regs.h); 0: this processor's
// are not known to us.
#if defined(__x86_64__)
// All but the segment registers ds, es, fs, gs: these cannot be had.
inline constexpr std::uint64_t kSampledRegisters = 0xff0fff;
#elif defined(__aarch64__)
inline constexpr std::uint64_t kSampledRegisters = 0x1ffffffff;  // x0 to x30, sp, pc
#else
inline constexpr std::uint64_t kSampledRegisters = 0;
#endif

}  // namespace infermeter
