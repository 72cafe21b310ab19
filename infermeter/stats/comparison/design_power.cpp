#include "infermeter/stats/comparison/design_power.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/sign_bets.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/comparison/walsh_averages.hpp"
#include "infermeter/stats/distributions/normal.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter {
namespace {

constexpr double power = 0.8;
constexpr double most_pairs_needed = 1e6;
constexpr int most_simulated_pairs = 200;  // beyond, effects fall with the root of the pairs

// The same everywhere and always: std::normal_distribution is not.
class NormalDraws {
 public:
  void fill(std::vector<double>& values) {
    for (double& value : values) {
      value = normal_tail_quantile((static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53);
    }
  }

 private:
  std::mt19937_64 engine_{1};
};

// Remembers what was simulated.
template <class Key, class Value = double>
class Simulated {
 public:
  template <class Make>
  Value operator()(const Key& key, const Make& make) {
    const std::scoped_lock lock(mutex_);
    const auto found = values_.find(key);
    if (found != values_.end()) return found->second;
    return values_.emplace(key, make()).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Value> values_;
};

// One look at the first `pairs` differences: it rejects 0 where the `within`-th Walsh average from either end does not
// lie beyond 0.
struct RankLook {
  int pairs = 0;
  std::size_t within = 0;
  auto operator<=>(const RankLook&) const = default;
};

std::vector<RankLook> rank_looks(const Design& design, int pairs, bool ended) {
  std::vector<RankLook> looks;
  for (const PlannedLook& look : planned_looks(design, pairs, ended)) {
    const std::size_t within = signed_ranks_within(static_cast<std::size_t>(look.pairs), look.level / 2);
    if (within > 0) looks.push_back({look.pairs, within});
  }
  return looks;
}

// So many that the work stays the same: 4000 of 40 pairs looked at eleven times.
std::size_t draws_for(double work_of_one) {
  return static_cast<std::size_t>(std::clamp(1.5e7 / work_of_one, 400.0, 4000.0));
}

// Of each look, the effect that it or one before it finds with 80 % power. The k-th smallest Walsh average moves with
// the effect, so that each draw has one effect that must be added for an interval to exclude 0. Each draw counts twice,
// as it is and with its signs turned.
std::vector<double> simulated_effects(const std::vector<RankLook>& looks) {
  double work = 0;
  for (const RankLook& look : looks) work += look.pairs * (look.pairs + 1) / 2.0;
  std::vector<double> values(static_cast<std::size_t>(looks.back().pairs));
  std::vector<std::vector<double>> needed(looks.size());
  NormalDraws draws;
  for (std::size_t draw = draws_for(work); draw > 0; --draw) {
    draws.fill(values);
    for (const double sign : {1.0, -1.0}) {
      WalshAverages averages;
      double effect = HUGE_VAL;
      for (std::size_t i = 0; i < looks.size(); ++i) {
        for (int pair = i == 0 ? 0 : looks[i - 1].pairs; pair < looks[i].pairs; ++pair) {
          averages.add(sign * values[static_cast<std::size_t>(pair)]);
        }
        // Counting is less work than finding, and shows where a look needs no less than the one before it.
        if (averages.up_to(-effect) < looks[i].within) effect = -averages.smallest(looks[i].within - 1);
        needed[i].push_back(effect);
      }
    }
  }
  std::vector<double> effects;
  for (auto& of_look : needed) {
    std::ranges::sort(of_look);
    effects.push_back(quantile(of_look, power));
  }
  return effects;
}

// Did the bets come in, for this effect?
bool is_found(const std::vector<double>& values, double effect, double enough) {
  SignBets bets(-effect);
  for (std::size_t i = 0; i < values.size(); ++i) {
    bets.add(values[i], 0);
    if (i >= 2 && bets.log_e() >= enough) return true;
  }
  return false;
}

double simulated_effect_of_bets(int pairs, double alpha) {
  std::vector<double> values(static_cast<std::size_t>(pairs));
  std::vector<double> needed;
  NormalDraws draws;
  for (std::size_t draw = draws_for(1000.0 * pairs); draw > 0; --draw) {
    draws.fill(values);
    double low = 0, high = 64;
    for (int halved = 0; halved < 12; ++halved) {
      const double middle = (low + high) / 2;
      (is_found(values, middle, -std::log(alpha)) ? high : low) = middle;
    }
    needed.push_back(high);
  }
  std::ranges::sort(needed);
  return quantile(needed, power);
}

// Of so many standard normal values, on average.
double simulated_half_width(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  NormalDraws draws;
  double sum = 0;
  const std::size_t all = draws_for(4.0 * count * count);
  for (std::size_t draw = 0; draw < all; ++draw) {
    draws.fill(values);
    const auto interval = hodges_lehmann_interval(values, 0.95);
    sum += (interval->high - interval->low) / 2;
  }
  return sum / static_cast<double>(all);
}

double half_width_of_normal(int count) {
  static Simulated<int> widths;
  const int simulated = std::min(count, most_simulated_pairs);
  const double width = widths(simulated, [&] { return simulated_half_width(simulated); });
  return width * std::sqrt(static_cast<double>(simulated) / count);
}

std::optional<double> detectable_by_bets(const Design& design, int pairs) {
  static Simulated<std::pair<int, double>> effects;
  if (pairs < 3) return std::nullopt;
  const int simulated = std::min(pairs, most_simulated_pairs);
  const double effect =
      effects({simulated, design.alpha}, [&] { return simulated_effect_of_bets(simulated, design.alpha); });
  if (effect > 32) return std::nullopt;  // so few pairs never tell
  return effect * std::sqrt(static_cast<double>(simulated) / pairs);
}

}  // namespace

double spread_of(std::span<const double> differences) {
  const double deviation = std::sqrt(moments_of(differences).variance);
  const auto interval = hodges_lehmann_interval(differences, 0.95);
  if (!interval || interval->low == interval->high) return deviation;
  return (interval->high - interval->low) / 2 / half_width_of_normal(static_cast<int>(differences.size()));
}

std::optional<double> detectable_effect(const Design& design, int pairs, bool ended) {
  static Simulated<std::vector<RankLook>, std::vector<double>> effects;
  if (design.until_resolved) return detectable_by_bets(design, pairs);
  const int planned = design.looks.back();
  if (planned > most_simulated_pairs) {  // the same plan, made smaller
    Design smaller = design;
    smaller.looks = design.looks.size() == 1 ? std::vector{most_simulated_pairs} : usual_looks(most_simulated_pairs);
    const int fewer = std::min(pairs, planned) * most_simulated_pairs / planned;
    const auto effect = detectable_effect(smaller, fewer, ended);
    return effect ? std::optional(*effect * std::sqrt(static_cast<double>(most_simulated_pairs) / planned)) : effect;
  }
  const bool ends_early = ended && pairs < planned;
  const auto looks = ends_early ? rank_looks(design, pairs, true) : rank_looks(design, planned, false);
  const auto taken = std::ranges::count_if(looks, [&](const RankLook& look) { return look.pairs <= pairs; });
  if (taken == 0) return std::nullopt;
  return effects(looks, [&] { return simulated_effects(looks); }).at(static_cast<std::size_t>(taken - 1));
}

std::optional<int> pairs_needed(const Design& design, int pairs, double effect) {
  if (!(effect > 0)) return std::nullopt;
  if (!design.until_resolved) {
    for (const int look : design.looks) {
      if (look <= pairs) continue;
      const auto shown = detectable_effect(design, look, false);
      if (shown && *shown <= effect) return look;
    }
  }
  const int planned = design.until_resolved ? std::max(pairs, 8) : design.looks.back();
  const auto shown = detectable_effect(design, planned, false);
  if (!shown) return std::nullopt;
  const double needed = std::ceil(planned * (*shown / effect) * (*shown / effect));
  if (!(needed <= most_pairs_needed)) return std::nullopt;
  return std::max(static_cast<int>(needed), pairs + 1);
}

}  // namespace infermeter
