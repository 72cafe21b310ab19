#include "infermeter/stats/changes/e_divisive.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/changes/energy_split.hpp"
#include "infermeter/text/hash.hpp"

namespace infermeter {
namespace {

// A stream of SplitMix64 (text/hash.hpp) for every part and draw: it costs nothing to begin, so that what is drawn
// depends on neither the order nor the number of questions.
class Draws {
 public:
  Draws(std::uint64_t seed, std::size_t begin, std::size_t end, std::size_t draw) : state_(seed) {
    for (const std::size_t coordinate : {begin, end, draw}) state_ = next() ^ (coordinate + 1);
  }

  // 0 … count - 1; the bias is below count / 2^64.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t next() { return split_mix(state_ += kSplitMixStep); }

  std::uint64_t state_;
};

std::vector<std::uint32_t> permuted_blocks(std::size_t n, std::size_t length, Draws draws) {
  const std::size_t cut = length > 1 ? draws.below(n) : 0;
  std::vector<std::uint32_t> first((n + length - 1) / length);
  for (std::size_t block = 0; block < first.size(); ++block) first[block] = static_cast<std::uint32_t>(block * length);
  for (std::size_t left = first.size(); left > 1; --left) std::swap(first[left - 1], first[draws.below(left)]);
  std::vector<std::uint32_t> order;
  order.reserve(n);
  for (const std::uint32_t begin : first) {
    for (std::size_t i = begin; i < std::min(begin + length, n); ++i) {
      order.push_back(static_cast<std::uint32_t>((cut + i) % n));
    }
  }
  return order;
}

// A part of the series with its best split, and the best splits of its permutations as far as they were asked for: a
// part that stays whole when another is split is not permuted again.
class Part {
 public:
  Part(std::span<const double> values, std::size_t begin, std::size_t end, const DivisiveOptions& options)
      : begin_(begin), end_(end), options_(&options) {
    if (end - begin < 2 * options.least) return;
    scan_.emplace(values.subspan(begin, end - begin), options.least);
    std::vector<std::uint32_t> order(end - begin);
    std::iota(order.begin(), order.end(), 0u);
    observed_ = scan_->best_split(order);
  }

  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] std::size_t end() const { return end_; }
  [[nodiscard]] bool can_split() const { return scan_.has_value(); }
  [[nodiscard]] std::size_t split() const { return begin_ + observed_.index; }
  [[nodiscard]] double q() const { return observed_.q; }

  [[nodiscard]] double permuted_q(std::size_t draw) {
    while (permuted_.size() <= draw) {
      const Draws draws(options_->seed, begin_, end_, permuted_.size());
      permuted_.push_back(scan_->best_split(permuted_blocks(end_ - begin_, options_->block, draws)).q);
    }
    return permuted_[draw];
  }

 private:
  std::size_t begin_, end_;
  const DivisiveOptions* options_;
  std::optional<EnergyScan> scan_;
  EnergySplit observed_;
  std::vector<double> permuted_;
};

std::optional<std::size_t> best_part(std::span<const Part> parts) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].can_split() && (!best || parts[i].q() > parts[*best].q())) best = i;
  }
  return best;
}

// nullopt: p is above alpha; the draws end when that is certain (after Besag & Clifford, "Sequential Monte Carlo
// p-values", Biometrika 78 (1991) 301–304).
std::optional<double> permutation_p(std::vector<Part>& parts, double q, const DivisiveOptions& options) {
  // Other orders of the same sums, so that equally good splits count as equal.
  const double as_good = q - 1e-9 * std::abs(q);
  const double all = options.permutations + 1;
  int exceeded = 0;
  for (int draw = 0; (exceeded + 1) / all <= options.alpha; ++draw) {
    if (draw == options.permutations) return (exceeded + 1) / all;
    const bool exceeds = std::ranges::any_of(parts, [&](Part& part) {
      return part.can_split() && part.permuted_q(static_cast<std::size_t>(draw)) >= as_good;
    });
    exceeded += exceeds ? 1 : 0;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Division> e_divisive(std::span<const double> values, std::span<const std::size_t> boundaries,
                                 const DivisiveOptions& options) {
  INFERMETER_CHECK(options.least >= 2 && options.block >= 1);
  std::vector<Part> parts;
  for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
    parts.emplace_back(values, boundaries[i], boundaries[i + 1], options);
  }
  std::vector<Division> found;
  while (const auto best = best_part(parts)) {
    Part& part = parts[*best];
    const auto p = permutation_p(parts, part.q(), options);
    if (!p) break;
    found.push_back({part.split(), *p});
    Part second(values, part.split(), part.end(), options);
    part = Part(values, part.begin(), part.split(), options);
    parts.push_back(std::move(second));
  }
  std::ranges::sort(found, {}, &Division::index);
  return found;
}

std::optional<double> e_divisive_p(std::span<const double> values, const DivisiveOptions& options) {
  std::vector<Part> whole;
  whole.emplace_back(values, 0, values.size(), options);
  return whole.front().can_split() ? permutation_p(whole, whole.front().q(), options) : std::nullopt;
}

std::size_t block_length(double phi, std::size_t n) {
  if (phi <= 0) return 1;
  const double best = std::pow(2 * phi / (1 - phi * phi), 2.0 / 3) * std::cbrt(static_cast<double>(n));
  const double longest = std::max(1.0, static_cast<double>(n / 6));
  return static_cast<std::size_t>(std::ceil(std::clamp(best, 1.0, longest)));
}

}  // namespace infermeter
