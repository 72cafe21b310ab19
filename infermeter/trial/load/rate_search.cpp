#include "infermeter/trial/load/rate_search.hpp"

#include <numeric>

namespace infermeter {

RateSearch::RateSearch(double high)
    : place_(high / static_cast<double>(kPlaces)), probability_(kPlaces, 1.0 / static_cast<double>(kPlaces)) {}

void RateSearch::observe(double rate, bool met) {
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const bool is_above = (static_cast<double>(i) + 0.5) * place_ > rate;
    probability_[i] *= is_above == met ? kBelieved : 1 - kBelieved;
  }
  const double sum = std::accumulate(probability_.begin(), probability_.end(), 0.0);
  for (double& one : probability_) one /= sum;
}

double RateSearch::quantile(double share) const {
  double below = 0;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    if (below + probability_[i] >= share) {
      const double within = probability_[i] > 0 ? (share - below) / probability_[i] : 0;
      return (static_cast<double>(i) + within) * place_;
    }
    below += probability_[i];
  }
  return static_cast<double>(kPlaces) * place_;
}

}  // namespace infermeter
