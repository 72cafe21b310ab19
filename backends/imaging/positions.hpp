// Where the aperture stands, and which pixels of the spectrum it lets through there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "settings.hpp"

namespace infermeter {

// A pixel of the spectrum, as a distance from its centre (index 0; there is no shift anywhere).
struct Centre {
  int y = 0, x = 0;
  bool operator==(const Centre&) const = default;
};

// fermat: c_k = round(r_max sqrt(k/K) (sin kg, cos kg)), g = pi (3 - sqrt 5), the golden angle (Vogel 1979). grid: the
// K points of a square lattice that are nearest to its centre, the outermost at r_max. random: uniform in the disc, the
// first at its centre. Throws Failure where two of them are the same.
[[nodiscard]] std::vector<Centre> positions_of(const ImagingSettings& settings);

// A piece of one row: `length` pixels that are neighbours both in the spectrum (N x N) and in the window (D x D) around
// the position, whose pixel 0 is the position itself.
struct Span {
  std::uint32_t grid = 0, window = 0;  // where it begins
  std::uint32_t length = 0;
};
// At most so many for an aperture: a row may be parted once by the edge of the grid and once by that of the window.
[[nodiscard]] constexpr std::size_t most_spans(int radius) { return 3 * (2 * static_cast<std::size_t>(radius) + 1); }

// {q : |q - c|^2 <= R^2} with c = centre moved by `shift` along x; written to `spans`, the rest of which is left empty.
// Returns how many.
std::size_t make_mask(const ImagingSettings& settings, Centre centre, int shift, std::span<Span> spans);

// Share of the grid that some aperture lets through.
[[nodiscard]] double coverage_of(const ImagingSettings& settings, std::span<const Centre> centres);

}  // namespace infermeter
