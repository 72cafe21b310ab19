// The loops over pixels. Complex numbers are pairs of floats, real part first. Sums are kept in 16 parts that are put
// together at the end, in one order: they are vectors on any processor, and the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "positions.hpp"

namespace infermeter {

// out = |field|^2; returns the largest.
float intensities(const float* field, std::size_t count, float* out);
void add_intensities(const float* field, std::size_t count, float* sum);
float scale_and_find_largest(float* values, std::size_t count, float factor);

// The noise of pixel i of one exposure of one position is a function of these and of i alone. Eight uniform bytes,
// added up, are normal enough (excess kurtosis -0.15, largest 4.9 standard deviations) and cost no logarithm, whose
// last bit differs between C libraries.
struct NoiseKey {
  std::uint32_t first = 0, second = 0;
};
[[nodiscard]] NoiseKey noise_key(std::uint64_t seed, std::uint64_t exposure, std::uint64_t position);
// out = max(0, I + sqrt(I * shot + read^2) g): shot = the brightest pixel / photons, read in units of I.
void add_noise(const float* intensity, std::size_t count, float shot, float read, NoiseKey key, float* out);

// Sum of `values`.
[[nodiscard]] double sum_of(const float* values, std::size_t count);

// Modulus replaced, phase kept: field *= sqrt(measured) / sqrt(|field|^2 + eps). Adds to `misfit` the
// squares of sqrt(measured) - sqrt(|field|^2 + eps).
void replace_modulus(float* field, const float* measured, std::size_t count, float eps, double& misfit);
// field = (sqrt(value), 0)
void roots(const float* values, std::size_t count, float* field);
// Of a line, whose fields have `mean` as the mean of their |.|^2: what each of them is to be multiplied by.
void line_factors(const float* measured, const float* mean, std::size_t count, float eps, float* factors,
                  double& misfit);
void multiply(float* field, const float* factors, std::size_t count);

// |field * scale| of a row.
void moduli(const float* field, std::size_t count, float scale, float* out);

// The same in float16, rounded after every operation, of values times `scale`, a power of two that range_scale finds
// for the largest of both; the square of `scale` is that of intensities. Sums are float32.
[[nodiscard]] float range_scale(const float* field, const float* measured, std::size_t count);
float intensities_in_half(const float* field, std::size_t count, float scale, float* out);
void replace_modulus_in_half(float* field, const float* measured, std::size_t count, float eps, float scale,
                             double& misfit);
void roots_in_half(const float* values, std::size_t count, float scale, float* field);

// As float16 with a power of two that makes the most of its range, and back.
[[nodiscard]] bool has_float16();
[[nodiscard]] float storage_scale(float largest);
void narrow(const float* values, std::size_t count, float scale, std::uint16_t* out);
void widen(const std::uint16_t* values, std::size_t count, float scale, float* out);

}  // namespace infermeter
