// Unwinder: registers and the top of a stack -> the addresses of its frames, by the call frame information of the files
// that the process had mapped (elfutils' libdwfl).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "infermeter/samples/raw_stacks.hpp"

extern "C" {
struct Dwfl;
}

namespace infermeter {

// A file as it lay in memory: `bias` is what its own addresses were moved by.
struct PlacedModule {
  std::string path;
  int descriptor = -1;
  std::uint64_t bias = 0;
};

class Unwinder {
 public:
  static constexpr std::size_t deepest = 512;  // frames

  Unwinder(std::uint32_t process, std::span<const PlacedModule> modules);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // Innermost first; at least the sample's own address. Ends where the saved part of the stack does, or at code without
  // call frame information, such as generated code. Addresses of callers are those that they go on at.
  [[nodiscard]] std::vector<std::uint64_t> addresses(const RawSample& sample);

 private:
  Dwfl* dwfl_ = nullptr;
  std::uint32_t process_;
  RawSample const* sample_ = nullptr;  // that is being unwound
  friend struct UnwindCallbacks;
};

}  // namespace infermeter
