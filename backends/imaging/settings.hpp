// What is imaged, how, and with which caches: the options, with the presets' values where nothing is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sdk/options.hpp"

namespace infermeter {

enum class ObjectKind { disc, point, tensor, picture };  // built in twice; float32 and pictures from the host
enum class Pattern { fermat, grid, random };
enum class Detection { intensity, field };
enum class Noise { fresh, frozen };  // another draw in each epoch, or the same
enum class Order { sweep, dwell };   // all positions, then again; or all visits to one, then the next
enum class Prior { none, support, nonneg };
enum class Eviction { lru, mru };
enum class Storage { float32, float16 };
enum class Arithmetic { float32, float16 };  // of the loops over pixels; transforms and sums are float32

struct ImagingSettings {
  int image_size = 512;   // N: the grid of the field and of its spectrum
  int object_size = 128;  // n
  int radius = 20;        // R: of an aperture, in pixels of the spectrum
  int samples = 100;      // K: positions of the aperture
  int epochs = 10;        // E: visits to each
  int detector = 512;     // D: pixels along a side of the detector
  double r_max = 120;     // how far out positions lie
  int line_length = 1;    // L: the aperture moves over so many pixels while the detector is exposed

  ObjectKind object = ObjectKind::disc;
  Pattern pattern = Pattern::fermat;
  Detection detection = Detection::intensity;
  double photons = 1e4;   // at the brightest pixel; infinity: no shot noise
  double read_noise = 0;  // standard deviation, as a share of the brightest pixel
  Noise noise = Noise::fresh;
  std::uint64_t seed = 7;

  bool reconstruct = true;
  Order order = Order::sweep;
  Prior prior = Prior::nonneg;
  double alpha = 1;

  bool spectrum_cache = true, measurement_cache = true, mask_cache = true;
  std::uint64_t cache_budget = 268'435'456;  // bytes, of each cache
  Eviction eviction = Eviction::lru;
  Storage storage = Storage::float32;
  Arithmetic arithmetic = Arithmetic::float32;  // what the subject's dtype says
};

// Which options there are. `load` and runtime_info read the same rows.
struct AskedSettings;
[[nodiscard]] std::span<const OptionRow<AskedSettings>> option_rows();

// Throws Failure(IMB_INVALID_ARGUMENT) with a sentence for what cannot be.
[[nodiscard]] ImagingSettings settings_from(const imb_load& load);
void check_settings(const ImagingSettings& settings);

}  // namespace infermeter
