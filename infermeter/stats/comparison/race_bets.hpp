// Bets that one candidate of a race takes longer than another, while blocks come in.
#pragma once

#include <array>

namespace infermeter {

// Differences of two candidates that were measured in the same blocks, one by one: how many, their mean, how they vary.
struct RunningMoments {
  double count = 0, mean = 0, squares = 0;  // squares: summed about the mean (Welford 1962)

  void add(double value);
  [[nodiscard]] double degrees() const { return count > 1 ? count - 1 : 0; }
  [[nodiscard]] double variance() const { return count > 1 ? squares / (count - 1) : 0; }
};

// A bet on each difference that its mean is above 0. If that mean is at most 0 and the variance at most what was said
// beforehand, then with x = stake · difference / deviation
//   exp(φ(x)) / (1 + stake² / 2),  φ(x) = ln(1 + x + x²/2) for x >= 0 and -ln(1 - x + x²/2) below,
// is on average at most 1, whatever the distribution (Catoni, "Challenging the empirical mean and empirical variance",
// Ann. Inst. H. Poincaré 48 (2012) 1148–1185; Wang & Ramdas, "Catoni-style confidence sequences for heavy-tailed mean
// estimation", Stoch. Proc. Appl. 163 (2023) 168–202). The capital, a mixture over stakes, hence reaches 1/α at any
// time with probability at most α (Ville). A gain is cut at `most`, so that no single process decides.
class RaceBets {
 public:
  void add(double difference, double deviation, double most);
  // As if the differences of both had been bet on, one after the other.
  void add(const RaceBets& other);
  [[nodiscard]] double capital() const;

 private:
  static constexpr std::array stakes = {0.2, 0.5, 1.0, 2.0};
  std::array<double, stakes.size()> logs_{};
};

}  // namespace infermeter
