#include "object.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "hashing.hpp"

namespace infermeter {
namespace {

double clamped(double value) { return std::min(1.0, std::max(0.0, value)); }

struct Draws {
  std::uint64_t seed, count = 0;
  double next(double low, double high) { return low + (high - low) * unit_from(mixed(seed + mixed(++count))); }
};

struct Bump {
  double y, x, radius, height;
};

std::vector<Bump> bumps_of(std::uint64_t seed, double middle, double disc) {
  Draws draws{seed};
  std::vector<Bump> bumps;
  while (bumps.size() < 60) {
    const double y = draws.next(-1, 1), x = draws.next(-1, 1);
    const double radius = draws.next(1.2, 6.2), height = draws.next(-0.35, 0.45);
    if (y * y + x * x > 0.8) continue;
    bumps.push_back({middle + disc * y, middle + disc * x, radius, height});
  }
  return bumps;
}

// Darker to the limb as mu = cos of the angle of sight, with bands across.
double disc_at(double y, double x, double disc) {
  const double r2 = (y * y + x * x) / (disc * disc);
  if (r2 >= 1) return 0;
  const double mu = std::sqrt(1 - r2);
  const double period = disc / 2.5, at = (y + 4 * disc) / period;
  const double phase = at - std::floor(at);
  const double band = 4 * phase * (1 - phase);
  const double edge = clamped((disc - std::sqrt(y * y + x * x)) / 1.5);
  return edge * (0.25 + 0.4 * mu + 0.1 * band);
}

double ring_at(double y, double x, double disc) {
  const double away = std::sqrt(4 * y * y + x * x) - 1.22 * disc;
  const double width = 0.08 * disc;
  return 0.4 * clamped(1 - (away * away) / (width * width));
}

double bump_at(const Bump& bump, double y, double x) {
  const double r2 = ((y - bump.y) * (y - bump.y) + (x - bump.x) * (x - bump.x)) / (bump.radius * bump.radius);
  return r2 >= 1 ? 0 : bump.height * (1 - r2) * (1 - r2);
}

}  // namespace

std::vector<float> built_in_object(const ImagingSettings& settings, std::uint64_t seed) {
  const int n = settings.object_size;
  const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<float> object(count, 0.0F);
  const double middle = n / 2, disc = 0.36 * n;
  if (settings.object == ObjectKind::point) {
    object[static_cast<std::size_t>(n / 2) * static_cast<std::size_t>(n) + static_cast<std::size_t>(n / 2)] = 1;
    return object;
  }
  const std::vector<Bump> bumps = bumps_of(seed, middle, disc);
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      double value = std::max(disc_at(y - middle, x - middle, disc), ring_at(y - middle, x - middle, disc));
      for (const Bump& bump : bumps) value += bump_at(bump, y, x);
      object[static_cast<std::size_t>(y) * static_cast<std::size_t>(n) + static_cast<std::size_t>(x)] =
          static_cast<float>(clamped(value));
    }
  }
  return normalised_object(object, n);
}

std::vector<float> normalised_object(std::span<const float> values, int size) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    const auto row = i / static_cast<std::size_t>(size), column = i % static_cast<std::size_t>(size);
    fail(IMB_INVALID_ARGUMENT, std::string("the object has ") + (std::isnan(values[i]) ? "NaN" : "an infinity") +
                                   " at row " + std::to_string(row) + ", column " + std::to_string(column) +
                                   "; amplitudes are finite numbers");
  }
  const float low = std::min(0.0F, *std::ranges::min_element(values));
  const float range = *std::ranges::max_element(values) - low;
  if (!(range > 0) || !std::isfinite(range)) {
    fail(IMB_INVALID_ARGUMENT, "the object is dark or too bright: its amplitudes reach from " + std::to_string(low) +
                                   " by " + std::to_string(range) + ", and one of them must be above 0");
  }
  std::vector<float> object(values.size());
  std::ranges::transform(values, object.begin(), [&](float value) { return (value - low) / range; });
  return object;
}

std::vector<float> grey_from(std::span<const std::uint8_t> planes, int size) {
  const auto count = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  std::vector<float> grey(count);
  for (std::size_t i = 0; i < count; ++i)
    grey[i] = static_cast<float>(planes[i] + planes[count + i] + planes[2 * count + i]);
  return grey;
}

}  // namespace infermeter
