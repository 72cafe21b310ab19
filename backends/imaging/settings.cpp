#include "settings.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sdk/units.hpp"

namespace infermeter {

// An option that is given beats the preset, wherever it stands.
struct AskedSettings {
  ImagingSettings settings;
  std::string preset = "standard";
  std::optional<int> image_size, object_size, radius, samples, epochs, detector;
  std::optional<double> r_max;
  std::optional<bool> spectrum_cache, measurement_cache, mask_cache;
  bool caches = true;
};

namespace {

using A = AskedSettings;
using Text = std::string_view;

constexpr int largest_image = 8192, most_samples = 100'000, most_epochs = 10'000, longest_line = 64;

bool switch_from(Text text) { return parse_choice<bool, 2>(text, {{{"on", true}, {"off", false}}}); }

double real_from(Text text, double smallest, double largest) {
  if (text == "inf" && std::isinf(largest)) return largest;
  const double value = number_from(text);
  if (value < smallest || value > largest) throw std::invalid_argument(std::string(text) + " is out of range");
  return value;
}

std::uint64_t budget_from(Text text) {
  const std::uint64_t bytes = bytes_from(text);
  if (bytes == 0) throw std::invalid_argument("a budget of 0 holds nothing; caches are switched off by caches=none");
  return bytes;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr std::array<OptionRow<A>, 27> rows = {{
    {{"preset", "standard|lowres|small|profiling", "512² grid and 100 positions; 128² detector; 256², 20; 512², 20"},
     [](A& a, Text v) {
       a.preset = parse_choice(v, std::to_array<Text>({"standard", "lowres", "small", "profiling"}));
     }},
    {{"image_size", "N", "side of the grid, a power of two"},
     [](A& a, Text v) { a.image_size = parse_integer<int>(v, 1, largest_image); }},
    {{"object_size", "N", "side of the object"},
     [](A& a, Text v) { a.object_size = parse_integer<int>(v, 4, largest_image); }},
    {{"radius", "N", "of the aperture, in pixels of the spectrum"},
     [](A& a, Text v) { a.radius = parse_integer<int>(v, 1, largest_image); }},
    {{"samples", "N", "positions of the aperture"},
     [](A& a, Text v) { a.samples = parse_integer<int>(v, 1, most_samples); }},
    {{"epochs", "N", "visits to each position"},
     [](A& a, Text v) { a.epochs = parse_integer<int>(v, 1, most_epochs); }},
    {{"detector", "N", "side of the detector, a power of two; the preset's, else that of the grid"},
     [](A& a, Text v) { a.detector = parse_integer<int>(v, 1, largest_image); }},
    {{"r_max", "X", "how far out positions lie; 0.6 times radius times the root of samples if not said"},
     [](A& a, Text v) { a.r_max = real_from(v, 0, largest_image); }},
    {{"line_length", "N", "pixels that the aperture moves while the detector is exposed"},
     [](A& a, Text v) { a.settings.line_length = parse_integer<int>(v, 1, longest_line); }},
    {{"object", "disc|point|tensor|picture", "built in; or the input 'object': numbers, or pictures, by --data"},
     [](A& a, Text v) {
       a.settings.object = parse_choice<ObjectKind, 4>(v, {{{"disc", ObjectKind::disc},
                                                            {"point", ObjectKind::point},
                                                            {"tensor", ObjectKind::tensor},
                                                            {"picture", ObjectKind::picture}}});
     }},
    {{"pattern", "fermat|grid|random", "of the positions"},
     [](A& a, Text v) {
       a.settings.pattern = parse_choice<Pattern, 3>(
           v, {{{"fermat", Pattern::fermat}, {"grid", Pattern::grid}, {"random", Pattern::random}}});
     }},
    {{"detection", "intensity|field", "field keeps the phase: linear, without noise, for tests"},
     [](A& a, Text v) {
       a.settings.detection =
           parse_choice<Detection, 2>(v, {{{"intensity", Detection::intensity}, {"field", Detection::field}}});
     }},
    {{"photons", "X|inf", "at the brightest pixel of a measurement"},
     [](A& a, Text v) { a.settings.photons = real_from(v, 1e-6, infinity); }},
    {{"read_noise", "X", "standard deviation, as a share of the brightest pixel"},
     [](A& a, Text v) { a.settings.read_noise = real_from(v, 0, 10); }},
    {{"noise", "fresh|frozen", "another draw in each epoch, or the same"},
     [](A& a, Text v) {
       a.settings.noise = parse_choice<Noise, 2>(v, {{{"fresh", Noise::fresh}, {"frozen", Noise::frozen}}});
     }},
    {{"seed", "N", "of the object, of the noise and of pattern=random"},
     [](A& a, Text v) { a.settings.seed = parse_integer<std::uint64_t>(v, 0, UINT64_MAX); }},
    {{"reconstruct", "on|off", "off: measurements alone"},
     [](A& a, Text v) { a.settings.reconstruct = switch_from(v); }},
    {{"order", "sweep|dwell", "all positions, then again; or all visits to one, then the next"},
     [](A& a, Text v) {
       a.settings.order = parse_choice<Order, 2>(v, {{{"sweep", Order::sweep}, {"dwell", Order::dwell}}});
     }},
    {{"prior", "nonneg|support|none", "what the object is known to be"},
     [](A& a, Text v) {
       a.settings.prior =
           parse_choice<Prior, 3>(v, {{{"nonneg", Prior::nonneg}, {"support", Prior::support}, {"none", Prior::none}}});
     }},
    {{"alpha", "X", "step of the reconstruction, up to 2"},
     [](A& a, Text v) { a.settings.alpha = real_from(v, 1e-3, 2); }},
    {{"caches", "all|none", "all three, where they are not said one by one"},
     [](A& a, Text v) { a.caches = parse_choice<bool, 2>(v, {{{"all", true}, {"none", false}}}); }},
    {{"spectrum_cache", "on|off", "the object's spectrum is kept"},
     [](A& a, Text v) { a.spectrum_cache = switch_from(v); }},
    {{"measurement_cache", "on|off", "what a position measures is kept, before the noise"},
     [](A& a, Text v) { a.measurement_cache = switch_from(v); }},
    {{"mask_cache", "on|off", "the rows of an aperture are kept"}, [](A& a, Text v) { a.mask_cache = switch_from(v); }},
    {{"cache_budget", "BYTES", "most that each cache may hold: 64MiB"},
     [](A& a, Text v) { a.settings.cache_budget = budget_from(v); }},
    {{"eviction", "lru|mru", "what makes room: what was not used for longest, or what was used last"},
     [](A& a, Text v) {
       a.settings.eviction = parse_choice<Eviction, 2>(v, {{{"lru", Eviction::lru}, {"mru", Eviction::mru}}});
     }},
    {{"storage", "float32|float16", "of what the measurement cache holds"},
     [](A& a, Text v) {
       a.settings.storage =
           parse_choice<Storage, 2>(v, {{{"float32", Storage::float32}, {"float16", Storage::float16}}});
     }},
}};

// image, object, radius, samples, epochs, detector (0: as the image)
struct PresetSizes {
  Text name;
  int image, object, radius, samples, epochs, detector;
};
constexpr std::array<PresetSizes, 4> presets = {{{"standard", 512, 128, 20, 100, 10, 0},
                                                 {"lowres", 512, 128, 20, 100, 10, 128},
                                                 {"small", 256, 64, 10, 20, 5, 0},
                                                 {"profiling", 512, 128, 20, 20, 10, 0}}};

const PresetSizes& preset_named(Text name) {
  for (const PresetSizes& preset : presets) {
    if (preset.name == name) return preset;
  }
  return presets.front();
}

[[noreturn]] void refuse(std::string why) { fail(IMB_INVALID_ARGUMENT, "imaging cannot do this: " + std::move(why)); }

std::string said(const char* key, int value) { return std::string(key) + "=" + std::to_string(value); }

void check_power_of_two(const char* key, int value) {
  if (value < 8 || !std::has_single_bit(static_cast<unsigned>(value))) {
    refuse(said(key, value) + " is not a power of two from 8 on; give " + key + "=" +
           std::to_string(std::bit_ceil(static_cast<unsigned>(value < 8 ? 8 : value))));
  }
}

}  // namespace

std::span<const OptionRow<AskedSettings>> option_rows() { return rows; }

ImagingSettings settings_from(const imb_load& load) {
  const AskedSettings asked = read_options(option_rows(), load, "imaging");
  const PresetSizes& preset = preset_named(asked.preset);
  ImagingSettings s = asked.settings;
  s.image_size = asked.image_size.value_or(preset.image);
  s.object_size = asked.object_size.value_or(preset.object);
  s.radius = asked.radius.value_or(preset.radius);
  s.samples = asked.samples.value_or(preset.samples);
  s.epochs = asked.epochs.value_or(preset.epochs);
  s.detector = asked.detector.value_or(preset.detector > 0 ? preset.detector : s.image_size);
  s.r_max = asked.r_max.value_or(0.6 * s.radius * std::sqrt(s.samples));
  s.spectrum_cache = asked.spectrum_cache.value_or(asked.caches);
  s.measurement_cache = asked.measurement_cache.value_or(asked.caches);
  s.mask_cache = asked.mask_cache.value_or(asked.caches);
  if (std::string_view(load.dtype) == "float16") s.arithmetic = Arithmetic::float16;
  check_settings(s);
  return s;
}

void check_settings(const ImagingSettings& s) {
  check_power_of_two("image_size", s.image_size);
  check_power_of_two("detector", s.detector);
  if (s.detector > s.image_size) {
    refuse(said("detector", s.detector) + " is finer than the grid, " + said("image_size", s.image_size));
  }
  const int width = 2 * s.radius + s.line_length;
  if (s.detector < width) {
    refuse(said("detector", s.detector) + " does not hold an aperture of " + said("radius", s.radius) +
           (s.line_length > 1 ? " and " + said("line_length", s.line_length) : "") + ", which is " +
           std::to_string(width) + " pixels wide; give a larger detector or a smaller radius");
  }
  if (s.object_size > s.image_size) {
    refuse(said("object_size", s.object_size) + " is larger than the grid, " + said("image_size", s.image_size));
  }
  if (s.arithmetic == Arithmetic::float16 && (s.line_length > 1 || s.detection == Detection::field)) {
    refuse("dtype=float16 is there for line_length=1 and detection=intensity");
  }
  if (s.r_max + s.radius + s.line_length / 2 >= s.image_size / 2.0) {
    refuse("apertures lie outside of the grid: r_max=" + std::to_string(s.r_max) + " and " + said("radius", s.radius) +
           " reach beyond half of " + said("image_size", s.image_size) +
           "; give a smaller r_max or radius, fewer samples or a larger image_size");
  }
}

}  // namespace infermeter
