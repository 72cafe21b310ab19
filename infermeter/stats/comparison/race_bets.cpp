#include "infermeter/stats/comparison/race_bets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace infermeter {
namespace {

constexpr double largest_log = 700;  // exp() of it is a number

// exp(φ(x))
double gain(double x) { return x >= 0 ? 1 + x + x * x / 2 : 1 / (1 - x + x * x / 2); }

}  // namespace

void RunningMoments::add(double value) {
  count += 1;
  const double step = value - mean;
  mean += step / count;
  squares += step * (value - mean);
}

void RaceBets::add(double difference, double deviation, double most) {
  // Values without spread: any difference is as far away as can be.
  const double scaled = deviation > 0 ? difference / deviation : difference == 0 ? 0 : std::copysign(1e6, difference);
  for (std::size_t i = 0; i < stakes.size(); ++i) {
    const double stake = stakes.at(i);
    logs_.at(i) += std::log(std::min(gain(stake * scaled), most) / (1 + stake * stake / 2));
  }
}

void RaceBets::add(const RaceBets& other) {
  for (std::size_t i = 0; i < stakes.size(); ++i) logs_.at(i) += other.logs_.at(i);
}

double RaceBets::capital() const {
  double sum = 0;
  for (const double log : logs_) sum += std::exp(std::min(log, largest_log));
  return sum / static_cast<double>(logs_.size());
}

}  // namespace infermeter
