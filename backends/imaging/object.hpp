// What is imaged: n x n amplitudes from 0 to 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "settings.hpp"

namespace infermeter {

// A limb-darkened disc with bands, a ring and 60 bumps (radius 1.2 to 6.2 pixels); or one bright pixel. Only + - * /
// and square roots of doubles: the same bits everywhere.
[[nodiscard]] std::vector<float> built_in_object(const ImagingSettings& settings, std::uint64_t seed);

// Moved up where a value is negative, and scaled: the largest is 1. Throws Failure(IMB_INVALID_ARGUMENT) for a value
// that is not finite (which, where), and where all are the same or 0.
[[nodiscard]] std::vector<float> normalised_object(std::span<const float> values, int size);

// Red, green and blue planes, of one weight.
[[nodiscard]] std::vector<float> grey_from(std::span<const std::uint8_t> planes, int size);

}  // namespace infermeter
