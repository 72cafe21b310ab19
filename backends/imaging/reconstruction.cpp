#include "reconstruction.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "kernels.hpp"

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace infermeter {
namespace {

// Numbers below 1e-38 count as 0 while it lives: some processors take a hundred times as long over them. The setting is
// the thread's, and is put back.
class NoDenormals {
 public:
#ifdef __x86_64__
  NoDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }  // flush to zero, denormals are zero
  ~NoDenormals() { _mm_setcsr(before_); }
#elif defined(__aarch64__)
  NoDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    set(before_ | 1U << 24U);  // FZ: flush to zero, of operands as well (Arm Architecture Reference Manual, FPCR)
  }
  ~NoDenormals() { set(before_); }
#else
  NoDenormals() = default;
  ~NoDenormals() = default;
#endif
  NoDenormals(const NoDenormals&) = delete;
  NoDenormals& operator=(const NoDenormals&) = delete;

 private:
#if defined(__aarch64__)
  static void set(std::uint64_t control) { asm volatile("msr fpcr, %0" : : "r"(control) : "memory"); }
  std::uint64_t before_ = 0;
#else
  [[maybe_unused]] unsigned before_ = 0;
#endif
};

std::size_t square(int side) { return static_cast<std::size_t>(side) * static_cast<std::size_t>(side); }

// In front of what the measurement cache keeps.
struct EntryHead {
  float largest = 0, scale = 1;
};
constexpr std::size_t head_bytes = 64;

std::size_t measured_floats(const ImagingSettings& s) {
  return square(s.detector) * (s.detection == Detection::field ? 2 : 1);
}

std::uint64_t measured_bytes(const ImagingSettings& s) {
  return head_bytes + measured_floats(s) * (s.storage == Storage::float16 ? 2 : 4);
}

std::size_t spans_of_mask(const ImagingSettings& s) {
  return most_spans(s.radius) * static_cast<std::size_t>(s.line_length);
}

Cache::Limits limits(const ImagingSettings& s, bool is_on, std::uint64_t entry, std::uint64_t entries,
                     std::uint64_t hash_mask) {
  return {.entry_bytes = entry,
          .most_entries = is_on ? entries : 0,
          .budget = s.cache_budget,
          .eviction = s.eviction,
          .hash_mask = hash_mask};
}

std::uint64_t positions(const ImagingSettings& s) { return static_cast<std::uint64_t>(s.samples); }

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

}  // namespace

Reconstruction::Reconstruction(const Scene& scene, std::uint64_t hash_mask)
    : scene_(scene),
      s_(scene.settings),
      grid_pixels_(square(s_.image_size)),
      window_pixels_(square(s_.detector)),
      spans_per_mask_(most_spans(s_.radius)),
      spectra_(limits(s_, s_.spectrum_cache, grid_pixels_ * 8, 1, hash_mask)),
      measurements_(limits(s_, s_.measurement_cache, measured_bytes(s_), positions(s_), hash_mask)),
      masks_(limits(s_, s_.mask_cache, spans_of_mask(s_) * sizeof(Span), positions(s_), hash_mask)),
      object_spectrum_(make_field(2 * grid_pixels_)),
      estimate_(make_field(2 * grid_pixels_)),
      window_(make_field(2 * window_pixels_)),
      line_(make_field(s_.line_length > 1 ? 2 * window_pixels_ * static_cast<std::size_t>(s_.line_length) : 16)),
      intensity_(measured_floats(s_)),
      noisy_(window_pixels_),
      factors_(s_.line_length > 1 ? window_pixels_ : 0),
      mean_(s_.line_length > 1 ? window_pixels_ : 0),
      visits_(s_.detection == Detection::field ? grid_pixels_ : 0),
      support_(2 * square(s_.object_size)),
      spans_(spans_of_mask(s_)) {}

bool Reconstruction::flushes_denormals() {
#if defined(__x86_64__) || defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

// By the convention of benchFFT, 5 n log2 n operations for n points, whatever the plan makes of them.
static double gflop_of(std::uint64_t transforms, std::size_t points) {
  const auto n = static_cast<double>(points);
  return static_cast<double>(transforms) * 5e-9 * n * std::log2(n);
}

RunCounts Reconstruction::counts() const {
  return {.spectrum = spectra_.counts(),
          .measurement = measurements_.counts(),
          .mask = masks_.counts(),
          .fft_count = grid_ffts_ + window_ffts_,
          .fft_gflop = gflop_of(grid_ffts_, grid_pixels_) + gflop_of(window_ffts_, window_pixels_)};
}

void Reconstruction::run(std::span<const float> object, std::uint64_t id, std::span<float> image,
                         std::span<float> error, StageClock* clock) {
  const NoDenormals no_denormals;
  begin(object, id, clock);
  const auto positions = static_cast<std::size_t>(s_.samples), epochs = static_cast<std::size_t>(s_.epochs);
  for (std::size_t i = 0; i < positions * epochs; ++i) {
    const bool sweeps = s_.order == Order::sweep;
    const std::size_t position = sweeps ? i % positions : i / epochs, visit_of = sweeps ? i / positions : i % epochs;
    visit(position, s_.noise == Noise::fresh ? visit_of : 0, i == 0);
    if ((i + 1) % positions != 0 || !s_.reconstruct) continue;
    note_error(i / positions, error);
    if (s_.detection == Detection::intensity && s_.prior != Prior::none) apply_prior();
  }
  if (s_.reconstruct) {
    read_out(image);
  } else {
    std::copy_n(noisy_.begin(), image.size(), image.begin());
  }
  if (all_finite(image) && all_finite(error)) return;
  fail(IMB_RUN_ERROR, "the reconstruction is not finite (NaN or infinity in it); give a smaller alpha");
}

void Reconstruction::begin(std::span<const float> object, std::uint64_t id, StageClock* clock) {
  object_ = object;
  object_id_ = id;
  clock_ = clock;
  grid_ffts_ = window_ffts_ = 0;
  for (Cache* cache : {&spectra_, &measurements_, &masks_}) cache->forget();
  std::memset(estimate_.get(), 0, 2 * grid_pixels_ * sizeof(float));
  std::ranges::fill(visits_, 0.0F);
  misfit_ = brightness_ = 0;
  if (clock_ != nullptr) clock_->begin();
}

void Reconstruction::visit(std::size_t position, std::uint64_t exposure, bool is_first) {
  const std::span<const Span> masks = mask_at(position);
  const Measured measured = measurement(position, masks);
  if (s_.detection == Detection::field) {
    if (s_.reconstruct) return average_field(measured, masks);
    intensities(measured.values, window_pixels_, noisy_.data());
    return;
  }
  add_noise_to(measured, position, exposure);
  if (!s_.reconstruct) return;
  if (is_first) start_estimate(masks);
  brightness_ += sum_of(noisy_.data(), window_pixels_);
  if (s_.line_length > 1) return improve_along_line(masks);
  improve(masks);
}

// --- masks ---------------------------------------------------------------------------------------------------------

CacheKey Reconstruction::key_of(std::size_t position) const {
  return {.object = object_id_,
          .image_size = s_.image_size,
          .detector = s_.detector,
          .radius = s_.radius,
          .centre = scene_.centres[position],
          .line_length = s_.line_length,
          .detection = s_.detection,
          .storage = s_.storage,
          .arithmetic = s_.arithmetic};
}

std::span<const Span> Reconstruction::mask_at(std::size_t position) {
  const std::span<Span> all = spans_;
  Span* room = spans_.data();
  if (s_.mask_cache) {
    const CacheKey key = key_of(position);
    if (const std::byte* kept = masks_.find(key)) return {reinterpret_cast<const Span*>(kept), spans_.size()};
    if (std::byte* added = masks_.add(key)) room = reinterpret_cast<Span*>(added);
  }
  for (int line = 0; line < s_.line_length; ++line) {
    const std::size_t begin = spans_per_mask_ * static_cast<std::size_t>(line);
    make_mask(s_, scene_.centres[position], line - s_.line_length / 2, {room + begin, spans_per_mask_});
  }
  lap(Stage::mask);
  return {room, all.size()};
}

// Without the empty ones at its end.
std::span<const Span> Reconstruction::mask_of(std::span<const Span> masks, int line) const {
  std::span<const Span> mask = masks.subspan(spans_per_mask_ * static_cast<std::size_t>(line), spans_per_mask_);
  while (!mask.empty() && mask.back().length == 0) mask = mask.first(mask.size() - 1);
  return mask;
}

void Reconstruction::take_window(const float* grid, std::span<const Span> spans, float scale, float* window) {
  std::memset(window, 0, 2 * window_pixels_ * sizeof(float));
  for (const Span& span : spans) {
    const float* from = grid + 2 * std::size_t{span.grid};
    float* to = window + 2 * std::size_t{span.window};
    for (std::size_t i = 0; i < 2 * std::size_t{span.length}; ++i) to[i] = from[i] * scale;
  }
  lap(Stage::window);
}

// O += step (window * scale - O) on the aperture.
void Reconstruction::put_back(const float* window, std::span<const Span> spans, float scale, float step) {
  for (const Span& span : spans) {
    const float* from = window + 2 * std::size_t{span.window};
    float* to = estimate_.get() + 2 * std::size_t{span.grid};
    for (std::size_t i = 0; i < 2 * std::size_t{span.length}; ++i) to[i] += step * (from[i] * scale - to[i]);
  }
  lap(Stage::update);
}

// --- measurement ---------------------------------------------------------------------------------------------------

CacheKey Reconstruction::object_key() const { return {.object = object_id_, .image_size = s_.image_size}; }

// The object's spectrum, unscaled: 1/N comes with the aperture's pixels, of which there are fewer.
const float* Reconstruction::spectrum() {
  if (!s_.spectrum_cache) {
    transform_object(object_spectrum_.get());
    return object_spectrum_.get();
  }
  const CacheKey key = object_key();
  if (const std::byte* kept = spectra_.find(key)) return reinterpret_cast<const float*>(kept);
  std::byte* added = spectra_.add(key);
  float* const room = added != nullptr ? reinterpret_cast<float*>(added) : object_spectrum_.get();
  transform_object(room);
  return room;
}

// The object lies around pixel 0: its upper left quarter at the end of rows and columns.
void Reconstruction::transform_object(float* out) {
  const int size = s_.object_size, half = size / 2;
  const auto n = static_cast<std::size_t>(s_.image_size);
  std::memset(out, 0, 2 * grid_pixels_ * sizeof(float));
  const float* from = object_.data();
  for (int y = -half; y < size - half; ++y) {
    float* const row = out + 2 * n * (y < 0 ? n - static_cast<std::size_t>(-y) : static_cast<std::size_t>(y));
    for (int x = -half; x < size - half; ++x)
      row[2 * (x < 0 ? n - static_cast<std::size_t>(-x) : static_cast<std::size_t>(x))] = *from++;
  }
  scene_.plans->forward_grid(out);
  ++grid_ffts_;
  lap(Stage::object_fft);
}

Reconstruction::Measured Reconstruction::measurement(std::size_t position, std::span<const Span> masks) {
  std::byte* entry = nullptr;
  if (s_.measurement_cache) {
    const CacheKey key = key_of(position);
    if (const std::byte* kept = measurements_.find(key)) return unpacked(kept);
    entry = measurements_.add(key);
  }
  const bool narrows = s_.measurement_cache && s_.storage == Storage::float16;
  float* const room = entry != nullptr && !narrows ? reinterpret_cast<float*>(entry + head_bytes) : intensity_.data();
  const float largest = measure(masks, room);
  EntryHead head{.largest = largest};
  if (narrows) {
    // What is kept is what is used, kept or not: the result does not depend on what the cache had room for.
    head.scale = storage_scale(largest);
    auto* const narrowed = entry != nullptr ? reinterpret_cast<std::uint16_t*>(entry + head_bytes)
                                            : reinterpret_cast<std::uint16_t*>(window_.get());
    narrow(room, intensity_.size(), head.scale, narrowed);
    widen(narrowed, intensity_.size(), 1 / head.scale, intensity_.data());
  }
  if (entry != nullptr) std::memcpy(entry, &head, sizeof head);
  return {narrows ? intensity_.data() : room, largest};
}

Reconstruction::Measured Reconstruction::unpacked(const std::byte* entry) {
  EntryHead head;
  std::memcpy(&head, entry, sizeof head);
  const std::byte* const values = entry + head_bytes;
  if (s_.storage == Storage::float32) return {reinterpret_cast<const float*>(values), head.largest};
  widen(reinterpret_cast<const std::uint16_t*>(values), intensity_.size(), 1 / head.scale, intensity_.data());
  lap(Stage::intensity);
  return {intensity_.data(), head.largest};
}

// psi = F^-1(M F a), as the detector samples it; then |psi|^2, or its mean along the line. Returns the largest.
float Reconstruction::measure(std::span<const Span> masks, float* out) {
  const float* const object = spectrum();
  const auto n = static_cast<float>(s_.image_size);
  const float scale = 1 / (n * n);  // 1/N of the object's transform, and 1/N of the way back
  if (s_.line_length > 1) std::fill_n(out, window_pixels_, 0.0F);
  for (int line = 0; line < s_.line_length; ++line) {
    take_window(object, mask_of(masks, line), scale, window_.get());
    scene_.plans->backward_window(window_.get());
    ++window_ffts_;
    lap(Stage::field_fft);
    if (s_.line_length > 1) add_intensities(window_.get(), window_pixels_, out);
  }
  float largest = 0;
  if (s_.detection == Detection::field) {
    std::memcpy(out, window_.get(), 2 * window_pixels_ * sizeof(float));
    for (std::size_t i = 0; i < 2 * window_pixels_; ++i) largest = std::max(largest, std::fabs(out[i]));
  } else if (s_.line_length > 1) {
    largest = scale_and_find_largest(out, window_pixels_, 1 / static_cast<float>(s_.line_length));
  } else {
    largest = in_half() ? intensities_in_half(window_.get(), window_pixels_,
                                              range_scale(window_.get(), nullptr, window_pixels_), out)
                        : intensities(window_.get(), window_pixels_, out);
  }
  lap(Stage::intensity);
  return largest;
}

void Reconstruction::add_noise_to(const Measured& measured, std::size_t position, std::uint64_t exposure) {
  const auto shot = static_cast<float>(measured.largest / s_.photons);
  const auto read = static_cast<float>(measured.largest * s_.read_noise);
  if (shot == 0 && read == 0) {
    std::memcpy(noisy_.data(), measured.values, window_pixels_ * sizeof(float));
  } else {
    add_noise(measured.values, window_pixels_, shot, read, noise_key(s_.seed, exposure, position), noisy_.data());
  }
  lap(Stage::noise);
}

// --- reconstruction ------------------------------------------------------------------------------------------------

// The forward transform of a D x D window, as F of the whole grid would have it.
static float window_scale(const ImagingSettings& s) {
  return static_cast<float>(s.image_size) / (static_cast<float>(s.detector) * static_cast<float>(s.detector));
}

// O = M_0 F sqrt(y_0). A dark pixel is one of a millionth of the mean brightness.
void Reconstruction::start_estimate(std::span<const Span> masks) {
  const double mean = sum_of(noisy_.data(), window_pixels_) / static_cast<double>(window_pixels_);
  eps_ = std::max(static_cast<float>(1e-12 * mean), 1e-30F);
  if (in_half()) {
    roots_in_half(noisy_.data(), window_pixels_, range_scale(nullptr, noisy_.data(), window_pixels_), window_.get());
  } else {
    roots(noisy_.data(), window_pixels_, window_.get());
  }
  scene_.plans->forward_window(window_.get());
  ++window_ffts_;
  lap(Stage::correction_fft);
  put_back(window_.get(), mask_of(masks, s_.line_length / 2), window_scale(s_), 1);
}

// phi = F^-1(M O); phi' = sqrt(y) phi/|phi|; O += alpha M (F phi' - O)
void Reconstruction::improve(std::span<const Span> masks) {
  const std::span<const Span> mask = mask_of(masks, 0);
  take_window(estimate_.get(), mask, 1 / static_cast<float>(s_.image_size), window_.get());
  scene_.plans->backward_window(window_.get());
  lap(Stage::estimate_fft);
  if (in_half()) {
    const float scale = range_scale(window_.get(), noisy_.data(), window_pixels_);
    replace_modulus_in_half(window_.get(), noisy_.data(), window_pixels_, eps_, scale, misfit_);
  } else {
    replace_modulus(window_.get(), noisy_.data(), window_pixels_, eps_, misfit_);
  }
  lap(Stage::modulus);
  scene_.plans->forward_window(window_.get());
  lap(Stage::correction_fft);
  window_ffts_ += 2;
  put_back(window_.get(), mask, window_scale(s_), static_cast<float>(s_.alpha));
}

// The same with y the mean of L intensities: phi_j' = phi_j sqrt(y / mean |phi_j|^2), all from one estimate, and each
// corrects it by its L-th part.
void Reconstruction::improve_along_line(std::span<const Span> masks) {
  const auto length = static_cast<std::size_t>(s_.line_length);
  std::ranges::fill(mean_, 0.0F);
  for (std::size_t line = 0; line < length; ++line) {
    float* const field = line_.get() + 2 * window_pixels_ * line;
    take_window(estimate_.get(), mask_of(masks, static_cast<int>(line)), 1 / static_cast<float>(s_.image_size), field);
    scene_.plans->backward_window(field);
    lap(Stage::estimate_fft);
    add_intensities(field, window_pixels_, mean_.data());
  }
  scale_and_find_largest(mean_.data(), window_pixels_, 1 / static_cast<float>(length));
  line_factors(noisy_.data(), mean_.data(), window_pixels_, eps_, factors_.data(), misfit_);
  lap(Stage::modulus);
  for (std::size_t line = 0; line < length; ++line) {
    float* const field = line_.get() + 2 * window_pixels_ * line;
    multiply(field, factors_.data(), window_pixels_);
    lap(Stage::modulus);
    scene_.plans->forward_window(field);
    lap(Stage::correction_fft);
    put_back(field, mask_of(masks, static_cast<int>(line)), window_scale(s_),
             static_cast<float>(s_.alpha) / static_cast<float>(length));
  }
  window_ffts_ += 2 * length;
}

// O on the aperture = the mean of what was measured there.
void Reconstruction::average_field(const Measured& measured, std::span<const Span> masks) {
  std::memcpy(window_.get(), measured.values, 2 * window_pixels_ * sizeof(float));
  scene_.plans->forward_window(window_.get());
  ++window_ffts_;
  lap(Stage::correction_fft);
  const float scale = window_scale(s_);
  for (const Span& span : mask_of(masks, 0)) {
    const float* from = window_.get() + 2 * std::size_t{span.window};
    float* to = estimate_.get() + 2 * std::size_t{span.grid};
    for (std::size_t i = 0; i < span.length; ++i) {
      const float step = 1 / ++visits_[span.grid + i];
      for (std::size_t part = 2 * i; part < 2 * i + 2; ++part) {
        const float value = from[part] * scale;
        misfit_ += static_cast<double>((value - to[part]) * (value - to[part]));
        brightness_ += static_cast<double>(value * value);
        to[part] += step * (value - to[part]);
      }
    }
  }
  lap(Stage::update);
}

// O = F(max(0, Re F^-1 O)) inside of the object's support, 0 outside. What F and F^-1 scale by is done on the support.
void Reconstruction::apply_prior() {
  const int size = s_.object_size, half = size / 2;
  const auto n = static_cast<std::size_t>(s_.image_size);
  const auto scale = static_cast<float>(1 / (static_cast<double>(n) * static_cast<double>(n)));
  const bool keeps_positive = s_.prior == Prior::nonneg;
  const auto place = [&](int y, int x) {
    const std::size_t row = y < 0 ? n - static_cast<std::size_t>(-y) : static_cast<std::size_t>(y);
    return estimate_.get() + 2 * (n * row + (x < 0 ? n - static_cast<std::size_t>(-x) : static_cast<std::size_t>(x)));
  };
  const auto each = [&](auto what) {
    float* kept = support_.data();
    for (int y = -half; y < size - half; ++y)
      for (int x = -half; x < size - half; ++x, kept += 2) what(place(y, x), kept);
  };
  scene_.plans->backward_grid(estimate_.get());
  each([&](const float* at, float* kept) {
    const float real = at[0] * scale;
    kept[0] = keeps_positive && real < 0 ? 0.0F : real;  // NaN stays, and is found at the end
    kept[1] = keeps_positive ? 0.0F : at[1] * scale;
  });
  std::memset(estimate_.get(), 0, 2 * grid_pixels_ * sizeof(float));
  each([](float* at, const float* kept) { std::memcpy(at, kept, 2 * sizeof(float)); });
  scene_.plans->forward_grid(estimate_.get());
  grid_ffts_ += 2;
  lap(Stage::prior);
}

// |F^-1 O|, where the object is.
void Reconstruction::read_out(std::span<float> image) {
  const auto size = static_cast<std::size_t>(s_.object_size), n = static_cast<std::size_t>(s_.image_size);
  const std::size_t half = size / 2;
  const float scale = 1 / static_cast<float>(n);
  scene_.plans->backward_grid(estimate_.get());
  ++grid_ffts_;
  for (std::size_t y = 0; y < size; ++y) {
    const float* const row = estimate_.get() + 2 * n * ((y + n - half) % n);
    float* const out = image.data() + y * size;
    moduli(row + 2 * (n - half), half, scale, out);
    moduli(row, size - half, scale, out + half);
  }
  lap(Stage::read_out);
}

// sqrt(sum (sqrt(y) - |phi|)^2 / sum y) over an epoch.
void Reconstruction::note_error(std::size_t epoch, std::span<float> error) {
  error[epoch] = brightness_ > 0 ? static_cast<float>(std::sqrt(misfit_ / brightness_)) : 0;
  misfit_ = brightness_ = 0;
}

}  // namespace infermeter
