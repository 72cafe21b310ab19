#include "infermeter/stats/comparison/race.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <ranges>
#include <utility>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/distributions/student_t.hpp"
#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter {
namespace {

constexpr double variance_confidence = 0.95;
constexpr double least_blocks_before_bets = 2;
constexpr double prior_degrees = 4;
constexpr double clearly = 1.5;  // standard errors

// Shares of alpha.
constexpr double for_early_looks = 0.02, for_bets = 0.48, for_equals = 0.5;
constexpr std::array early_looks = {2, 3, 4, 6};  // after so many blocks
constexpr double far_behind = 0.2;                // of a logarithm: 22 %

// The variance that lies above the true one with 95 % confidence, for normal values, by the estimate's.
double bound_factor(double degrees) {
  const boost::math::chi_squared_distribution<> chi(degrees);
  return degrees / boost::math::quantile(chi, 1 - variance_confidence);
}

}  // namespace

Race::Race(std::size_t candidates, const RaceDesign& design)
    : design_(design),
      standings_(candidates, Standing::racing),
      eligible_(candidates, true),
      moments_(candidates * (candidates - 1) / 2) {
  INFERMETER_CHECK(candidates > 0 && design.alpha > 0 && design.alpha < 1 && design.indifference >= 0);
}

bool Race::has_value(std::size_t candidate) const {
  return std::ranges::any_of(values_, [&](const auto& block) { return block[candidate].has_value(); });
}

bool Race::is_in(std::size_t candidate) const {
  return standings_[candidate] == Standing::racing || standings_[candidate] == Standing::equal;
}

bool Race::takes_part(std::size_t candidate) const {
  return standings_[candidate] == Standing::racing || leader_ == candidate;
}

bool Race::is_over() const {
  for (std::size_t i = 0; i < candidates(); ++i) {
    if (standings_[i] == Standing::racing && leader_ != i) return false;
  }
  return true;
}

std::vector<double> Race::differences(std::size_t candidate, std::size_t other) const {
  std::vector<double> found;
  for (const auto& block : values_) {
    if (block[candidate] && block[other]) found.push_back(*block[candidate] - *block[other]);
  }
  return found;
}

const RunningMoments& Race::moments(std::size_t one, std::size_t other) const {
  const std::size_t low = std::min(one, other), high = std::max(one, other);
  return moments_[high * (high - 1) / 2 + low];
}

RunningMoments& Race::moments(std::size_t one, std::size_t other) {
  return const_cast<RunningMoments&>(std::as_const(*this).moments(one, other));
}

// Over those that take part: the mean of their pairs' variances is twice the residual mean square of blocks and
// candidates, which has one degree less than candidates times one less than blocks.
Race::Pool Race::pooled() const {
  double squares = 0, degrees = 0, pairs = 0, members = 0;
  for (std::size_t i = 0; i < candidates(); ++i) {
    if (!takes_part(i)) continue;
    members += 1;
    for (std::size_t j = 0; j < i; ++j) {
      if (!takes_part(j)) continue;
      squares += moments(i, j).squares;
      degrees += moments(i, j).degrees();
      pairs += 1;
    }
  }
  if (degrees == 0) return {};
  const double of_residuals = std::max(1.0, degrees / pairs * (members - 1));
  const double variance = squares / degrees;
  return {.variance = variance, .bound = variance * bound_factor(of_residuals), .degrees = of_residuals};
}

// The pair's own variance, shrunk towards that of all as long as it is known from few blocks (moderated: Smyth, "Linear
// models and empirical Bayes methods …", Stat. Appl. Genet. Mol. Biol. 3 (2004) 3), and no less than the bound of all.
double Race::deviation(const RunningMoments& own, const Pool& pool) const {
  const double moderated = (prior_degrees * pool.variance + own.squares) / (prior_degrees + own.degrees());
  return std::sqrt(std::max(moderated, pool.bound));
}

Race::Reign& Race::reign_of(std::size_t leader) {
  const auto found = std::ranges::find(reigns_, leader, &Reign::leader);
  if (found != reigns_.end()) return *found;
  return reigns_.emplace_back(leader, std::vector<Bets>(candidates()));
}

void Race::bet(const std::vector<std::optional<double>>& values) {
  if (!leader_ || !values[*leader_]) return;
  const Pool pool = pooled();
  // One process by itself calls nobody worse; two do not call anybody equal.
  const double most = std::pow(evidence_for_worse(), 2.0 / 3);
  const double most_of_equals = std::sqrt(2 * static_cast<double>(candidates()) / design_.alpha);
  Reign& reign = reign_of(*leader_);
  for (std::size_t i = 0; i < candidates(); ++i) {
    if (i == *leader_ || !values[i]) continue;
    const RunningMoments& own = moments(i, *leader_);
    if (pool.degrees == 0 || own.count < least_blocks_before_bets) continue;
    const double difference = *values[i] - *values[*leader_], by = deviation(own, pool);
    reign.bets[i].worse.add(difference, by, most);
    reign.bets[i].not_better.add(design_.indifference + difference, by, most_of_equals);
    reign.bets[i].not_worse.add(design_.indifference - difference, by, most_of_equals);
  }
}

void Race::learn(const std::vector<std::optional<double>>& values) {
  for (std::size_t i = 1; i < candidates(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (values[i] && values[j]) moments(i, j).add(*values[i] - *values[j]);
    }
  }
}

void Race::add(std::span<const std::optional<double>> block) {
  INFERMETER_CHECK(block.size() == candidates());
  std::vector<std::optional<double>> values(candidates());
  for (std::size_t i = 0; i < candidates(); ++i) {
    if (takes_part(i)) values[i] = block[i];
  }
  bet(values);
  learn(values);
  values_.push_back(std::move(values));
  drop_the_far();
  drop_the_worse();
  choose_leader();
  find_equals();
}

void Race::withdraw(std::size_t candidate) {
  standings_[candidate] = Standing::withdrawn;
  choose_leader();
  find_equals();
}

// The least p-value against another candidate. Of its differences the lower median is taken, so that half of them at
// least are as large: one disturbed process drops nobody.
double Race::chance_of_being_best(std::size_t candidate, const Pool& pool) const {
  double least = 1;
  for (std::size_t other = 0; other < candidates(); ++other) {
    if (other == candidate || !is_in(other) || !eligible_[other]) continue;
    std::vector<double> apart = differences(candidate, other);
    const auto count = static_cast<double>(apart.size());
    if (count < least_blocks_before_bets) continue;
    const auto middle = apart.begin() + (std::ssize(apart) - 1) / 2;
    std::ranges::nth_element(apart, middle);
    const double variance = std::max(moments(candidate, other).variance(), pool.variance);
    if (*middle < far_behind) continue;
    least = std::min(least, variance > 0 ? student_t_tail(*middle / std::sqrt(variance / count), pool.degrees) : 0.0);
  }
  return least;
}

void Race::drop_the_far() {
  if (std::ranges::find(early_looks, blocks()) == early_looks.end()) return;
  const Pool pool = pooled();
  if (pool.degrees == 0) return;
  const auto members = static_cast<double>(candidates());
  const double tests = members * (members - 1) * static_cast<double>(early_looks.size());
  std::vector<std::size_t> far;
  for (std::size_t i = 0; i < candidates(); ++i) {
    if (takes_part(i) && chance_of_being_best(i, pool) * tests <= for_early_looks * design_.alpha) far.push_back(i);
  }
  for (const std::size_t i : far) standings_[i] = Standing::worse;
}

double Race::evidence_for_worse() const { return 1 / (for_bets * design_.alpha); }

// What was won by betting that those who led are better: as an e-value of "none of them is".
double Race::evidence_against(std::size_t candidate) const {
  RaceBets all;
  for (const Reign& reign : reigns_) {
    const bool counts =
        reign.leader != candidate && eligible_[reign.leader] && standings_[reign.leader] != Standing::withdrawn;
    if (counts) all.add(reign.bets[candidate].worse);
  }
  return all.capital();
}

void Race::drop_the_worse() {
  const auto all = std::views::iota(std::size_t{0}, candidates());
  auto left = std::ranges::count_if(all, [&](std::size_t i) { return is_in(i); });
  for (const std::size_t i : all) {
    if (left == 1 || !is_in(i) || evidence_against(i) < evidence_for_worse()) continue;
    standings_[i] = Standing::worse;
    --left;
  }
}

// Before bets begin the one that is lowest; then whoever leads goes on leading until another is clearly lower in the
// blocks that both were measured in: what was bet against it is worth more than a leader that is lower by chance.
void Race::choose_leader() {
  if (leader_ && !is_in(*leader_)) leader_.reset();
  const Pool pool = pooled();
  for (std::size_t i = 0; i < candidates() && !leader_; ++i) {
    if (is_in(i) && has_value(i)) leader_ = i;
  }
  for (std::size_t changes = 0; leader_ && changes < candidates(); ++changes) {
    double lowest = 0;
    std::size_t best = *leader_;
    for (std::size_t i = 0; i < candidates(); ++i) {
      if (!is_in(i) || i == *leader_) continue;
      std::vector<double> apart = differences(i, *leader_);
      if (apart.empty()) continue;
      const double count = static_cast<double>(apart.size()), median = sample_median(std::move(apart));
      const bool is_clear = blocks() <= least_blocks_before_bets ||
                            median < -clearly * deviation(moments(i, *leader_), pool) / std::sqrt(count);
      if (median >= lowest || !is_clear) continue;
      lowest = median;
      best = i;
    }
    if (best == *leader_) return;
    leader_ = best;
  }
}

// The n-th that leads has 1 / (n (n + 1)) of the half of it that is for those that are better, whoever leads in the
// end, and of the other half, which all candidates share, for those that are worse.
bool Race::is_equal(std::size_t candidate) const {
  if (!leader_ || candidate == *leader_ || design_.indifference == 0) return false;
  const auto reign = std::ranges::find(reigns_, *leader_, &Reign::leader);
  if (reign == reigns_.end()) return false;
  const auto n = static_cast<double>(reign - reigns_.begin()) + 1;
  const double enough = 2 * n * (n + 1) / (for_equals * design_.alpha);
  const Bets& bets = reign->bets[candidate];
  return bets.not_better.capital() >= enough &&
         bets.not_worse.capital() >= enough * (static_cast<double>(candidates()) - 1);
}

void Race::find_equals() {
  for (std::size_t i = 0; i < candidates(); ++i) {
    if (is_in(i)) standings_[i] = is_equal(i) ? Standing::equal : Standing::racing;
  }
}

std::optional<std::size_t> Race::best() const {
  if (!leader_ || is_over()) return leader_;
  std::size_t best = *leader_;
  double lowest = 0;
  for (std::size_t i = 0; i < candidates(); ++i) {
    std::vector<double> apart = differences(i, *leader_);
    if (!is_in(i) || i == *leader_ || apart.empty()) continue;
    const double middle = sample_median(std::move(apart));
    if (middle >= lowest) continue;
    lowest = middle;
    best = i;
  }
  return best;
}

}  // namespace infermeter
