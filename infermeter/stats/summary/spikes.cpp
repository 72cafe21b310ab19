#include "infermeter/stats/summary/spikes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter {
namespace {

constexpr std::size_t neighbours = 5;     // on each side: phases longer than that are their own median
constexpr std::size_t half_window = 100;  // on each side, for the fence
constexpr double fence = 3;               // ranges between the 10th and the 90th percentile
constexpr std::size_t longest_run = 3;

// The sorted values within `reach` of one position, as it moves from first to last. At the ends there are fewer.
class Window {
 public:
  Window(std::span<const double> values, std::size_t reach) : values_(values), reach_(reach) {
    for (std::size_t i = 0; i < std::min(reach, values.size()); ++i) insert(values[i]);
  }

  void move_to(std::size_t position) {
    if (position + reach_ < values_.size()) insert(values_[position + reach_]);
    if (position > reach_) sorted_.erase(std::ranges::lower_bound(sorted_, values_[position - reach_ - 1]));
  }

  [[nodiscard]] const std::vector<double>& sorted() const { return sorted_; }

 private:
  void insert(double value) { sorted_.insert(std::ranges::upper_bound(sorted_, value), value); }

  std::span<const double> values_;
  std::size_t reach_;
  std::vector<double> sorted_;
};

std::vector<double> distances_from_neighbours(std::span<const double> values) {
  std::vector<double> distances(values.size());
  Window window(values, neighbours);
  for (std::size_t i = 0; i < values.size(); ++i) {
    window.move_to(i);
    distances[i] = values[i] - quantile(window.sorted(), 0.5);
  }
  return distances;
}

// Takes back what is far off from the first value on, and runs that are too long for single disturbances.
void keep_phases(std::vector<bool>& far) {
  for (std::size_t begin = 0; begin < far.size();) {
    std::size_t end = begin;
    while (end < far.size() && far[end]) ++end;
    if (begin == 0 || end - begin > longest_run) {
      for (std::size_t i = begin; i < end; ++i) far[i] = false;
    }
    begin = end + 1;
  }
}

}  // namespace

std::vector<bool> find_spikes(std::span<const double> values, double least) {
  const std::vector<double> distances = distances_from_neighbours(values);
  std::vector<bool> far(values.size());
  Window window(distances, half_window);
  for (std::size_t i = 0; i < values.size(); ++i) {
    window.move_to(i);
    const double range = quantile(window.sorted(), 0.9) - quantile(window.sorted(), 0.1);
    far[i] = std::abs(distances[i]) > std::max(fence * range, least);
  }
  keep_phases(far);
  return far;
}

}  // namespace infermeter
