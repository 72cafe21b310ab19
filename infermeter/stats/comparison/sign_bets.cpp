#include "infermeter/stats/comparison/sign_bets.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

double log_cosh(double x) { return std::abs(x) + std::log1p(std::exp(-2 * std::abs(x))) - std::numbers::ln2; }

double median_of_sorted(const std::vector<double>& ascending) {
  const std::size_t half = ascending.size() / 2;
  return ascending.size() % 2 == 1 ? ascending[half] : (ascending[half - 1] + ascending[half]) / 2;
}

// By the one that is tried first outwards and then inwards.
template <class Rejected>
std::optional<double> farthest_kept(double estimate, double step, const Rejected& rejected) {
  double outside = estimate + step;
  for (int doubled = 0; !rejected(outside); outside = estimate + step) {
    step *= 2;
    if (++doubled == 20) return std::nullopt;
  }
  double inside = estimate;
  for (int halved = 0; halved < 30; ++halved) {
    const double middle = inside + (outside - inside) / 2;
    (rejected(middle) ? outside : inside) = middle;
  }
  return inside;
}

}  // namespace

void OrderEffect::add(double difference, int order) {
  count_ += 1;
  const double before = difference - mean_, order_before = order - mean_order_;
  mean_ += before / count_;
  mean_order_ += order_before / count_;
  squares_ += before * (difference - mean_);
  order_squares_ += order_before * (order - mean_order_);
  products_ += before * (order - mean_order_);
}

double OrderEffect::value() const {
  if (count_ < 3 || order_squares_ == 0) return 0;
  const double slope = products_ / order_squares_;
  const double error_squared = (squares_ - slope * products_) / (count_ - 2) / order_squares_;
  if (error_squared <= 0) return 0;
  return shrunk_order_effect(slope, slope * slope / error_squared);
}

void SignBets::add(double difference, int order) {
  double value = difference - centre_;
  if (order != 0) {
    value -= order * order_effect_.value();
    order_effect_.add(difference, order);
  }
  sizes_.insert(std::ranges::upper_bound(sizes_, std::abs(value)), std::abs(value));
  const double scale = median_of_sorted(sizes_);
  if (value == 0 || scale == 0) return;
  for (std::size_t i = 0; i < multiples.size(); ++i) {
    const double stake = multiples.at(i) * value / scale;
    const double fair = log_cosh(stake);
    up_.at(i) += stake - fair;
    down_.at(i) -= stake + fair;
  }
}

double SignBets::log_e() const {
  const double largest = std::max(*std::ranges::max_element(up_), *std::ranges::max_element(down_));
  double sum = 0;
  for (std::size_t i = 0; i < multiples.size(); ++i) {
    sum += std::exp(up_.at(i) - largest) + std::exp(down_.at(i) - largest);
  }
  return largest + std::log(sum / (2 * multiples.size()));
}

double log_e_value(const CoinPairs& pairs, double centre) {
  SignBets bets(centre);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    bets.add(pairs.differences[i], pairs.order.empty() ? 0 : pairs.order[i]);
  }
  return bets.log_e();
}

std::optional<Interval> e_interval(const CoinPairs& pairs, double estimate, double alpha) {
  INFERMETER_CHECK(pairs.size() > 0 && alpha > 0 && alpha < 1);
  const auto rejected = [&](double centre) { return log_e_value(pairs, centre) >= -std::log(alpha); };
  const auto [low, high] = std::ranges::minmax(pairs.differences);
  // Values without spread: any distance tells them apart.
  const double step = high > low ? high - low : std::max(std::abs(high), 1.0) * 1e-9;
  const auto below = farthest_kept(estimate, -step, rejected), above = farthest_kept(estimate, step, rejected);
  if (!below || !above) return std::nullopt;
  return Interval{*below, *above, 1 - alpha};
}

}  // namespace infermeter
