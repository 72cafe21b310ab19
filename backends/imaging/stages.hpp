// Where the time of a run goes, for a profile of operators. Without one nothing is read and nothing noted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace infermeter {

enum class Stage : std::uint8_t {
  object_fft,  // the object's spectrum
  mask,        // the rows of the aperture
  window,      // the aperture's pixels taken out
  field_fft,   // back: the field on the detector
  intensity,
  noise,
  estimate_fft,    // back: the field of what is known so far
  modulus,         // its modulus replaced
  correction_fft,  // forward again
  update,          // the aperture's pixels put back
  prior,           // two transforms, and the object's support between them
  read_out,
};
inline constexpr std::array<std::string_view, 12> stage_names = {
    "object_fft",   "mask",    "window",         "field_fft", "intensity", "noise",
    "estimate_fft", "modulus", "correction_fft", "update",    "prior",     "read_out"};
static_assert(stage_names.size() == static_cast<std::size_t>(Stage::read_out) + 1);

class StageClock {
 public:
  void begin();
  // The time since the last call was this stage's.
  void lap(Stage stage);

  struct Sum {
    std::int64_t nanoseconds = 0;
    std::uint64_t calls = 0;
  };
  [[nodiscard]] const std::array<Sum, stage_names.size()>& sums() const { return sums_; }
  void forget() { sums_ = {}; }

 private:
  std::array<Sum, stage_names.size()> sums_{};
  std::int64_t last_ = 0;
};

// operators.json: means per inference. Throws Failure.
void write_stages(const StageClock& clock, std::uint64_t runs, const std::string& folder);

}  // namespace infermeter
