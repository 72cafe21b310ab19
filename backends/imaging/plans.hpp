// FFTW's plans. The planner tries algorithms and keeps the fastest, so that two processes may choose others and answer
// with other last bits. What it chose is written down once per machine ("wisdom") and read from then on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fftw.hpp"
#include "settings.hpp"

namespace infermeter {

// Forward and back, in place, of one size. Neither scales.
struct PlanPair {
  fftwf_plan forward = nullptr, backward = nullptr;
};

struct WisdomPlace {
  std::string folder;      // where this machine's is kept; empty: nowhere
  bool may_write = false;  // what had to be chosen is added to the folder's
};

class Plans {
 public:
  // Throws Failure(IMB_INVALID_ARGUMENT) where the wisdom is of another machine or broken.
  Plans(const Fftw& fftw, const ImagingSettings& settings, const WisdomPlace& place);
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;
  ~Plans();

  // In place: `field` is aligned to 64 bytes.
  void forward_grid(float* field) const { execute(grid_.forward, field); }
  void backward_grid(float* field) const { execute(grid_.backward, field); }
  void forward_window(float* field) const { execute(window_.forward, field); }
  void backward_window(float* field) const { execute(window_.backward, field); }
  // "wisdom file" or "made in this process".
  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  void execute(fftwf_plan plan, float* field) const {
    auto* const numbers = reinterpret_cast<fftwf_complex*>(field);
    fftw_->execute_dft(plan, numbers, numbers);
  }
  [[nodiscard]] bool plan_all(const ImagingSettings& settings, unsigned flags);
  void destroy();

  const Fftw* fftw_;
  PlanPair grid_, window_;
  std::string origin_;
};

// What plans depend on: processor and library.
[[nodiscard]] std::string machine_of_plans(const Fftw& fftw);

// Complex numbers, aligned for FFTW and for everybody's vectors.
struct FreeField {
  void operator()(float* numbers) const;
};
using Field = std::unique_ptr<float, FreeField>;
[[nodiscard]] Field make_field(std::size_t floats);  // zeros

}  // namespace infermeter
