// The race of several candidates for the lowest value: blocks of one process of each that still takes part, and after
// each block the decision who goes on. One error rate holds for all looks and all candidates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "infermeter/stats/comparison/race_bets.hpp"

namespace infermeter {

// What a race is asked. Values are logarithms, turned so that lower is better.
struct RaceDesign {
  double alpha = 0.05;
  double indifference = 0;  // differences below it do not matter: log1p of 2 %
};

enum class Standing {
  racing,
  equal,      // shown to be within the indifference of the leader; rests as long as that one leads
  worse,      // shown not to be the best
  withdrawn,  // for a reason that is not its value
};

// Each block is a bet against whoever led before it. 0.48 of alpha: a candidate that is as good as the best is called
// worse. This holds for each such candidate and all looks (Ville's inequality for the capital of its bets): one that
// has equals does not have to be spared together with all of them, or a race of 20 would need twice the evidence. Half:
// no candidate that is better than the leader, or worse, by the indifference is called its equal, all of them together.
// What a bet needs beforehand is the variance: an upper confidence bound from the blocks before, of all pairs together,
// or the pair's own where that is larger. Bets need some blocks, however far apart candidates are: the rest of alpha is
// for early looks, which drop what is far behind by a t test of the lower median of its differences, with the variance
// of all pairs (Bonferroni over pairs and looks).
class Race {
 public:
  Race(std::size_t candidates, const RaceDesign& design);

  // The next block; nullopt: not measured, or without a value. Those that do not take part are not looked at.
  void add(std::span<const std::optional<double>> block);
  void withdraw(std::size_t candidate);
  // May others be called worse because of it? Not while it is open whether it may win at all. At first: of all.
  void set_eligible(std::size_t candidate, bool eligible) { eligible_[candidate] = eligible; }

  [[nodiscard]] std::size_t candidates() const { return standings_.size(); }
  [[nodiscard]] int blocks() const { return static_cast<int>(values_.size()); }
  // Of those that are neither worse nor withdrawn the one with the lowest values; nullopt: nobody has any yet.
  [[nodiscard]] std::optional<std::size_t> leader() const { return leader_; }
  // Who is best if the race ends now: the leader or, where others are still open, the lowest against it: whoever leads
  // goes on leading until another is clearly lower.
  [[nodiscard]] std::optional<std::size_t> best() const;
  [[nodiscard]] Standing standing(std::size_t candidate) const { return standings_[candidate]; }
  [[nodiscard]] bool takes_part(std::size_t candidate) const;
  // Nobody is left but the leader and its equals.
  [[nodiscard]] bool is_over() const;

  // Of the blocks that both were measured in: candidate less other.
  [[nodiscard]] std::vector<double> differences(std::size_t candidate, std::size_t other) const;

 private:
  // What was bet while one candidate led: of each other that it is worse, that it is not better by the indifference,
  // and that it is not worse by it.
  struct Bets {
    RaceBets worse, not_better, not_worse;
  };
  struct Reign {
    std::size_t leader = 0;
    std::vector<Bets> bets;
  };
  struct Pool {
    double variance = 0, bound = 0;  // of a pair's difference
    double degrees = 0;              // 0: there is none yet
  };

  [[nodiscard]] bool has_value(std::size_t candidate) const;
  [[nodiscard]] bool is_in(std::size_t candidate) const;
  [[nodiscard]] RunningMoments& moments(std::size_t one, std::size_t other);
  [[nodiscard]] const RunningMoments& moments(std::size_t one, std::size_t other) const;
  [[nodiscard]] Pool pooled() const;
  [[nodiscard]] double deviation(const RunningMoments& own, const Pool& pool) const;
  [[nodiscard]] Reign& reign_of(std::size_t leader);
  void bet(const std::vector<std::optional<double>>& values);
  void learn(const std::vector<std::optional<double>>& values);
  [[nodiscard]] double evidence_for_worse() const;  // that is enough
  [[nodiscard]] double evidence_against(std::size_t candidate) const;
  [[nodiscard]] bool is_equal(std::size_t candidate) const;
  [[nodiscard]] double chance_of_being_best(std::size_t candidate, const Pool& pool) const;
  void drop_the_far();
  void drop_the_worse();
  void choose_leader();
  void find_equals();

  RaceDesign design_;
  std::vector<Standing> standings_;
  std::vector<bool> eligible_;
  std::vector<std::vector<std::optional<double>>> values_{};  // of each block
  std::vector<RunningMoments> moments_;                       // of each pair
  std::vector<Reign> reigns_{};                               // in the order in which they first led
  std::optional<std::size_t> leader_{};
};

}  // namespace infermeter
