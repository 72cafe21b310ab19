// The averages of each of n values with itself and with each other, n (n + 1) / 2 of them (Walsh 1949): the signed-rank
// test's estimate and interval are of their ranks.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace infermeter {

// One of a given rank is found without making them all: halving keeps it between two bounds until few are left there
// (as Johnson & Mizoguchi, "Selecting the Kth element in X + Y", SIAM J. Comput. 7 (1978) 2, by other bounds).
class WalshAverages {
 public:
  WalshAverages() = default;
  explicit WalshAverages(std::span<const double> values);

  void add(double value);

  [[nodiscard]] std::size_t size() const { return sorted_.size() * (sorted_.size() + 1) / 2; }

  // How many are not above the bound.
  [[nodiscard]] std::size_t up_to(double bound) const;

  // The k-th smallest, k from 0 to size() - 1.
  [[nodiscard]] double smallest(std::size_t k) const { return smallest(k, k).first; }

  // The k-th and the l-th smallest, of which l is k or k + 1.
  [[nodiscard]] std::pair<double, double> smallest(std::size_t k, std::size_t l) const;

 private:
  [[nodiscard]] double average(std::size_t i, std::size_t j) const { return (sorted_[i] + sorted_[j]) / 2; }
  [[nodiscard]] std::size_t first_above(std::size_t i, double bound) const;
  [[nodiscard]] std::vector<double> unsorted() const;

  std::vector<double> sorted_;
};

}  // namespace infermeter
