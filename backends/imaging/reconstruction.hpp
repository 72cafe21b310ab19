// One run: an object is measured position by position, and reconstructed as the measurements come in. It begins with
// cold caches and ends with the same bits, whatever the caches did.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cache.hpp"
#include "plans.hpp"
#include "positions.hpp"
#include "settings.hpp"
#include "stages.hpp"

namespace infermeter {

// What all runs of a session share.
struct Scene {
  ImagingSettings settings;
  std::vector<Centre> centres;
  std::unique_ptr<Plans> plans;
  double coverage = 0;
};

struct RunCounts {
  CacheCounts spectrum, measurement, mask;
  std::uint64_t fft_count = 0;  // 2-D transforms of either size
  double fft_gflop = 0;         // 10^9 operations of theirs
  std::uint64_t samples = 0;    // visits to positions
};

class Reconstruction {
 public:
  // `hash_mask`: of the caches, for tests.
  explicit Reconstruction(const Scene& scene, std::uint64_t hash_mask = ~std::uint64_t{0});

  // Reconstructs an object of n x n amplitudes from 0 to 1; `id` tells objects apart. `image` gets n x n numbers,
  // `error` one per epoch. With reconstruct=off `image` gets the last measurement, D x D. Throws Failure(IMB_RUN_ERROR)
  // where the result is not finite.
  void run(std::span<const float> object, std::uint64_t id, std::span<float> image, std::span<float> error,
           StageClock* clock = nullptr);
  // Of the last run.
  [[nodiscard]] RunCounts counts() const;
  [[nodiscard]] static bool flushes_denormals();

 private:
  struct Mask {
    const Span* spans = nullptr;  // of each pixel of the line, most_spans apart
    std::size_t count = 0;        // of the first
  };
  struct Measured {
    const float* values = nullptr;  // intensities; or the field
    float largest = 0;
  };

  void begin(std::span<const float> object, std::uint64_t id, StageClock* clock);
  void visit(std::size_t position, std::uint64_t exposure, bool is_first);
  [[nodiscard]] CacheKey key_of(std::size_t position) const;
  [[nodiscard]] CacheKey object_key() const;
  [[nodiscard]] std::span<const Span> mask_at(std::size_t position);
  [[nodiscard]] std::span<const Span> mask_of(std::span<const Span> masks, int line) const;
  [[nodiscard]] const float* spectrum();
  void transform_object(float* out);
  [[nodiscard]] Measured measurement(std::size_t position, std::span<const Span> masks);
  float measure(std::span<const Span> masks, float* out);
  [[nodiscard]] Measured unpacked(const std::byte* entry);
  void add_noise_to(const Measured& measured, std::size_t position, std::uint64_t exposure);

  void start_estimate(std::span<const Span> masks);
  void improve(std::span<const Span> masks);
  void improve_along_line(std::span<const Span> masks);
  void average_field(const Measured& measured, std::span<const Span> masks);
  void take_window(const float* grid, std::span<const Span> spans, float scale, float* window);
  void put_back(const float* window, std::span<const Span> spans, float scale, float step);
  void apply_prior();
  void read_out(std::span<float> image);
  [[nodiscard]] bool in_half() const { return s_.arithmetic == Arithmetic::float16; }
  void note_error(std::size_t epoch, std::span<float> error);
  void lap(Stage stage) {
    if (clock_ != nullptr) clock_->lap(stage);
  }

  const Scene& scene_;
  const ImagingSettings& s_;
  std::size_t grid_pixels_, window_pixels_, spans_per_mask_;
  Cache spectra_, measurements_, masks_;
  Field object_spectrum_, estimate_, window_, line_;
  std::vector<float> intensity_, noisy_, factors_, mean_, visits_, support_;
  std::vector<Span> spans_;

  std::span<const float> object_;
  std::uint64_t object_id_ = 0, grid_ffts_ = 0, window_ffts_ = 0;
  StageClock* clock_ = nullptr;
  float eps_ = 0;
  double misfit_ = 0, brightness_ = 0;
};

}  // namespace infermeter
