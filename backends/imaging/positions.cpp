#include "positions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>

#include "hashing.hpp"

namespace infermeter {
namespace {

int rounded(double value) { return static_cast<int>(std::lround(value)); }

std::vector<Centre> fermat_spiral(const ImagingSettings& s) {
  const double golden_angle = std::numbers::pi * (3 - std::sqrt(5.0));
  std::vector<Centre> centres;
  for (int k = 0; k < s.samples; ++k) {
    const double radius = s.r_max * std::sqrt(static_cast<double>(k) / s.samples);
    centres.push_back({rounded(radius * std::sin(k * golden_angle)), rounded(radius * std::cos(k * golden_angle))});
  }
  return centres;
}

std::vector<Centre> square_lattice(const ImagingSettings& s) {
  const int side = rounded(std::sqrt(s.samples)) + 2;
  std::vector<Centre> points;
  for (int y = -side; y <= side; ++y)
    for (int x = -side; x <= side; ++x) points.push_back({y, x});
  const auto norm = [](Centre c) { return c.y * c.y + c.x * c.x; };
  std::ranges::sort(points, {}, [&](Centre c) { return std::tuple(norm(c), c.y, c.x); });
  points.resize(static_cast<std::size_t>(s.samples));
  const double outermost = std::sqrt(norm(points.back()));
  const double pitch = outermost > 0 ? s.r_max / outermost : 0;
  for (Centre& c : points) c = {rounded(c.y * pitch), rounded(c.x * pitch)};
  return points;
}

std::vector<Centre> scattered(const ImagingSettings& s) {
  std::vector<Centre> centres = {{}};
  std::uint64_t draws = 0;
  const std::uint64_t enough = 1000 * static_cast<std::uint64_t>(s.samples);
  while (centres.size() < static_cast<std::size_t>(s.samples)) {
    if (draws++ > enough) return std::vector<Centre>(2);  // there is no room: two that are the same say so
    const double y = 2 * unit_from(mixed(s.seed ^ mixed(2 * draws))) - 1;
    const double x = 2 * unit_from(mixed(s.seed ^ mixed(2 * draws + 1))) - 1;
    const Centre centre{rounded(s.r_max * y), rounded(s.r_max * x)};
    if (y * y + x * x <= 1 && std::ranges::find(centres, centre) == centres.end()) centres.push_back(centre);
  }
  return centres;
}

void check_different(const ImagingSettings& s, const std::vector<Centre>& centres) {
  std::map<std::pair<int, int>, std::size_t> seen;
  for (std::size_t k = 0; k < centres.size(); ++k) {
    const auto [place, is_new] = seen.try_emplace({centres[k].y, centres[k].x}, k);
    if (is_new) continue;
    fail(IMB_INVALID_ARGUMENT, "imaging cannot do this: positions " + std::to_string(place->second) + " and " +
                                   std::to_string(k) + " of " + std::to_string(s.samples) +
                                   " fall onto one pixel; give a larger r_max (it is " + std::to_string(s.r_max) +
                                   ") or fewer samples");
  }
}

std::size_t wrap(int value, int size) { return static_cast<std::size_t>(((value % size) + size) % size); }

}  // namespace

std::vector<Centre> positions_of(const ImagingSettings& settings) {
  std::vector<Centre> centres;
  switch (settings.pattern) {
    case Pattern::fermat: centres = fermat_spiral(settings); break;
    case Pattern::grid: centres = square_lattice(settings); break;
    case Pattern::random: centres = scattered(settings); break;
  }
  check_different(settings, centres);
  return centres;
}

std::size_t make_mask(const ImagingSettings& s, Centre centre, int shift, std::span<Span> spans) {
  std::size_t count = 0;
  const auto n = static_cast<std::size_t>(s.image_size), d = static_cast<std::size_t>(s.detector);
  int half = 0;
  for (int y = -s.radius; y <= s.radius; ++y) {
    const int rest = s.radius * s.radius - y * y;
    while (half * half < rest) ++half;
    while (half * half > rest) --half;
    const std::size_t grid_row = wrap(centre.y + y, s.image_size) * n, window_row = wrap(y, s.detector) * d;
    for (int x = shift - half; x <= shift + half;) {
      const std::size_t grid = wrap(centre.x + x, s.image_size), window = wrap(x, s.detector);
      const std::size_t left = static_cast<std::size_t>(shift + half - x + 1);
      const std::size_t length = std::min({left, n - grid, d - window});
      spans[count++] = {static_cast<std::uint32_t>(grid_row + grid), static_cast<std::uint32_t>(window_row + window),
                        static_cast<std::uint32_t>(length)};
      x += static_cast<int>(length);
    }
  }
  std::fill(spans.begin() + static_cast<std::ptrdiff_t>(count), spans.end(), Span{});
  return count;
}

double coverage_of(const ImagingSettings& s, std::span<const Centre> centres) {
  const auto n = static_cast<std::size_t>(s.image_size);
  std::vector<bool> seen(n * n);
  std::vector<Span> spans(most_spans(s.radius));
  for (const Centre centre : centres) {
    for (int line = 0; line < s.line_length; ++line) {
      const std::size_t count = make_mask(s, centre, line - s.line_length / 2, spans);
      for (const Span& span : std::span(spans).first(count)) std::fill_n(seen.begin() + span.grid, span.length, true);
    }
  }
  return static_cast<double>(std::ranges::count(seen, true)) / static_cast<double>(n * n);
}

}  // namespace infermeter
