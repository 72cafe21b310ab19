#include "kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "hashing.hpp"

// One copy of a loop for each generation of processors, chosen when the plug-in is loaded. Sanitizers cannot be called
// while that happens.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((optimize("O3")))
#else
#define FOR_EACH_PROCESSOR
#endif

namespace infermeter {
namespace {

constexpr std::size_t lanes = 16;

double total(const float* parts) {
  double sum = 0;
  for (std::size_t i = 0; i < lanes; ++i) sum += parts[i];
  return sum;
}

}  // namespace

FOR_EACH_PROCESSOR float intensities(const float* __restrict field, std::size_t count, float* __restrict out) {
  float largest[lanes] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      const float re = field[2 * (i + j)], im = field[2 * (i + j) + 1];
      const float value = re * re + im * im;
      out[i + j] = value;
      largest[j] = largest[j] > value ? largest[j] : value;
    }
  }
  return *std::max_element(largest, largest + lanes);
}

FOR_EACH_PROCESSOR void add_intensities(const float* __restrict field, std::size_t count, float* __restrict sum) {
  for (std::size_t i = 0; i < count; ++i) {
    const float re = field[2 * i], im = field[2 * i + 1];
    sum[i] += re * re + im * im;
  }
}

FOR_EACH_PROCESSOR float scale_and_find_largest(float* __restrict values, std::size_t count, float factor) {
  float largest[lanes] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      values[i + j] *= factor;
      largest[j] = largest[j] > values[i + j] ? largest[j] : values[i + j];
    }
  }
  return *std::max_element(largest, largest + lanes);
}

NoiseKey noise_key(std::uint64_t seed, std::uint64_t exposure, std::uint64_t position) {
  const std::uint64_t hash = mixed(mixed(seed + mixed(exposure)) ^ mixed(~position));
  return {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32U)};
}

FOR_EACH_PROCESSOR void add_noise(const float* __restrict intensity, std::size_t count, float shot, float read,
                                  NoiseKey key, float* __restrict out) {
  constexpr float mean = 8 * 127.5F, one_sd = 1.0F / 209.02153F;  // variance 8 (256^2 - 1) / 12
  const float read2 = read * read;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t x = mixed(static_cast<std::uint32_t>(i) * 0x9E37'79B9U + key.first);
    const std::uint32_t one = mixed(x ^ key.second), two = mixed(x + 0x85EB'CA6BU);
    const std::uint32_t pairs =
        (one & 0x00FF'00FFU) + ((one >> 8U) & 0x00FF'00FFU) + (two & 0x00FF'00FFU) + ((two >> 8U) & 0x00FF'00FFU);
    const auto bytes = static_cast<std::int32_t>((pairs & 0xFFFFU) + (pairs >> 16U));
    const float g = (static_cast<float>(bytes) - mean) * one_sd;
    const float value = intensity[i] + std::sqrt(intensity[i] * shot + read2) * g;
    out[i] = value < 0 ? 0 : value;  // NaN stays, and is found at the end
  }
}

FOR_EACH_PROCESSOR double sum_of(const float* values, std::size_t count) {
  float parts[lanes] = {};
  for (std::size_t i = 0; i < count; i += lanes)
    for (std::size_t j = 0; j < lanes; ++j) parts[j] += values[i + j];
  return total(parts);
}

FOR_EACH_PROCESSOR void replace_modulus(float* __restrict field, const float* __restrict measured, std::size_t count,
                                        float eps, double& misfit) {
  float parts[lanes] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      const float re = field[2 * (i + j)], im = field[2 * (i + j) + 1];
      const float modulus = std::sqrt(re * re + im * im + eps);
      const float wanted = std::sqrt(measured[i + j]);
      const float factor = wanted / modulus;
      field[2 * (i + j)] = re * factor;
      field[2 * (i + j) + 1] = im * factor;
      parts[j] += (wanted - modulus) * (wanted - modulus);
    }
  }
  misfit += total(parts);
}

FOR_EACH_PROCESSOR void roots(const float* __restrict values, std::size_t count, float* __restrict field) {
  for (std::size_t i = 0; i < count; ++i) {
    field[2 * i] = std::sqrt(values[i]);
    field[2 * i + 1] = 0;
  }
}

FOR_EACH_PROCESSOR void line_factors(const float* __restrict measured, const float* __restrict mean, std::size_t count,
                                     float eps, float* __restrict factors, double& misfit) {
  float parts[lanes] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      const float modulus = std::sqrt(mean[i + j] + eps), wanted = std::sqrt(measured[i + j]);
      factors[i + j] = wanted / modulus;
      parts[j] += (wanted - modulus) * (wanted - modulus);
    }
  }
  misfit += total(parts);
}

FOR_EACH_PROCESSOR void multiply(float* __restrict field, const float* __restrict factors, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    field[2 * i] *= factors[i];
    field[2 * i + 1] *= factors[i];
  }
}

FOR_EACH_PROCESSOR void moduli(const float* __restrict field, std::size_t count, float scale, float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) {
    const float re = field[2 * i] * scale, im = field[2 * i + 1] * scale;
    out[i] = std::sqrt(re * re + im * im);
  }
}

float storage_scale(float largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);
  // The largest lies from 2^14 to 2^15; float16 ends at 65504.
  return largest > 0 ? std::ldexp(1.0F, 15 - exponent) : 1.0F;
}

FOR_EACH_PROCESSOR float range_scale(const float* __restrict field, const float* __restrict measured,
                                     std::size_t count) {
  float largest[lanes] = {}, brightest[lanes] = {};
  for (std::size_t i = 0; field != nullptr && i < 2 * count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      const float value = std::fabs(field[i + j]);
      largest[j] = largest[j] > value ? largest[j] : value;
    }
  }
  for (std::size_t i = 0; measured != nullptr && i < count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      brightest[j] = brightest[j] > measured[i + j] ? brightest[j] : measured[i + j];
    }
  }
  const float most =
      std::max(*std::max_element(largest, largest + lanes), std::sqrt(*std::max_element(brightest, brightest + lanes)));
  int exponent = 0;
  std::frexp(most, &exponent);
  // The largest lies from 2^6 to 2^7: the sum of two squares ends below 2^15.
  return most > 0 ? std::ldexp(1.0F, 7 - exponent) : 1.0F;
}

#ifdef __FLT16_MAX__
bool has_float16() { return true; }

namespace {

// One operation of float16: of +, -, *, / and roots, what float32 gives and is then rounded is what float16 gives.
float half(float value) { return static_cast<float>(static_cast<_Float16>(value)); }

}  // namespace

FOR_EACH_PROCESSOR float intensities_in_half(const float* __restrict field, std::size_t count, float scale,
                                             float* __restrict out) {
  const float back = 1 / (scale * scale);
  float largest[lanes] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      const float re = half(field[2 * (i + j)] * scale), im = half(field[2 * (i + j) + 1] * scale);
      const float value = half(half(re * re) + half(im * im)) * back;
      out[i + j] = value;
      largest[j] = largest[j] > value ? largest[j] : value;
    }
  }
  return *std::max_element(largest, largest + lanes);
}

FOR_EACH_PROCESSOR void replace_modulus_in_half(float* __restrict field, const float* __restrict measured,
                                                std::size_t count, float eps, float scale, double& misfit) {
  // No dark pixel is darker than what a factor of float16 can brighten.
  constexpr float darkest = 1.0F / 16'384;
  const float dark = half(std::max(eps * scale * scale, darkest)), back = 1 / scale;
  float parts[lanes] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      const float re = half(field[2 * (i + j)] * scale), im = half(field[2 * (i + j) + 1] * scale);
      const float modulus = half(std::sqrt(half(half(half(re * re) + half(im * im)) + dark)));
      const float wanted = half(std::sqrt(half(measured[i + j] * scale * scale)));
      const float factor = half(wanted / modulus);
      field[2 * (i + j)] = half(re * factor) * back;
      field[2 * (i + j) + 1] = half(im * factor) * back;
      const float apart = (wanted - modulus) * back;
      parts[j] += apart * apart;
    }
  }
  misfit += total(parts);
}

FOR_EACH_PROCESSOR void roots_in_half(const float* __restrict values, std::size_t count, float scale,
                                      float* __restrict field) {
  const float back = 1 / scale;
  for (std::size_t i = 0; i < count; ++i) {
    field[2 * i] = half(std::sqrt(half(values[i] * scale * scale))) * back;
    field[2 * i + 1] = 0;
  }
}

FOR_EACH_PROCESSOR void narrow(const float* __restrict values, std::size_t count, float scale,
                               std::uint16_t* __restrict out) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = std::bit_cast<std::uint16_t>(static_cast<_Float16>(values[i] * scale));
}

FOR_EACH_PROCESSOR void widen(const std::uint16_t* __restrict values, std::size_t count, float scale,
                              float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(std::bit_cast<_Float16>(values[i])) * scale;
}
#else
bool has_float16() { return false; }
float intensities_in_half(const float*, std::size_t, float, float*) { return 0; }
void replace_modulus_in_half(float*, const float*, std::size_t, float, float, double&) {}
void roots_in_half(const float*, std::size_t, float, float*) {}
void narrow(const float*, std::size_t, float, std::uint16_t*) {}
void widen(const std::uint16_t*, std::size_t, float, float*) {}
#endif

}  // namespace infermeter
