#include "infermeter/stats/comparison/sequential.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/comparison/sign_bets.hpp"
#include "infermeter/stats/comparison/spending.hpp"

namespace infermeter {
namespace {

bool resolves(const Look& look) { return look.direction != Direction::unresolved; }

// What stays the same over the looks of one candidate.
struct Question {
  double alpha;  // its share
  double margin;
  int planned;
  bool equal_signs_decide;
  std::vector<int> counts;     // the planned looks that some candidate has the pairs for
  std::vector<double> levels;  // of each
};

Look look_at(const CoinPairs& pairs, double level, const Question& question) {
  Look look;
  look.pairs = static_cast<int>(pairs.size());
  look.level = level;
  look.p = coin_p(pairs);
  look.estimate = coin_estimate(pairs);
  look.interval = coin_interval(pairs, 1 - level);
  if (look.interval) look.interval->confidence = 1 - question.alpha;
  look.direction = direction_within(look.interval, question.margin);
  return look;
}

// Looks as planned.
std::vector<Look> looks_so_far(const CoinPairs& pairs, const Question& question) {
  std::vector<Look> looks;
  for (std::size_t k = 0; k < question.counts.size(); ++k) {
    const auto count = static_cast<std::size_t>(question.counts[k]);
    if (count > pairs.size()) break;
    looks.push_back(look_at(pairs.first(count), question.levels[k], question));
    if (resolves(looks.back())) break;
  }
  return looks;
}

// What is spent as soon as so many pairs may all have one sign: 1/128 at eight pairs, where that is no more than a
// quarter of alpha.
double spent_by_equal_signs(double alpha, int pairs) {
  int signs = 8;
  while (std::ldexp(2.0, -signs) > alpha / 4) ++signs;
  return pairs < signs ? 0 : std::ldexp(2.0, -signs);
}

double spent_after(int pairs, const Question& question) {
  if (pairs >= question.planned) return question.alpha;
  const double fraction = static_cast<double>(pairs) / question.planned;
  if (!question.equal_signs_decide) return spent_alpha(question.alpha, fraction);
  const double by_signs = spent_by_equal_signs(question.alpha, question.planned);
  return spent_by_equal_signs(question.alpha, pairs) + spent_alpha(question.alpha - by_signs, fraction);
}

std::vector<double> levels_of(std::span<const int> counts, const Question& question, bool is_final) {
  std::vector<double> spent;
  for (const int count : counts) spent.push_back(spent_after(count, question));
  if (is_final && !spent.empty()) spent.back() = question.alpha;
  return spending_levels(counts, spent);
}

// The last look where pairs end before they were planned to. A planned look at the same pairs is taken again, with what
// is left in place of its own level: rejecting there includes what it rejected.
void add_last_look(const CoinPairs& pairs, const Question& question, std::vector<Look>& looks) {
  const auto count = static_cast<int>(pairs.size());
  if (!looks.empty() && looks.back().pairs == count) looks.pop_back();
  std::vector<int> counts(question.counts.begin(), question.counts.begin() + static_cast<std::ptrdiff_t>(looks.size()));
  counts.push_back(count);
  const double level = levels_of(counts, question, true).back();
  looks.push_back(look_at(pairs, level, question));
}

std::vector<Look> group_sequential(const CoinPairs& pairs, const Question& question, bool ended) {
  std::vector<Look> looks = looks_so_far(pairs, question);
  const bool resolved = !looks.empty() && resolves(looks.back());
  const auto count = static_cast<int>(pairs.size());
  if (ended && !resolved && count > 0 && count < question.planned) add_last_look(pairs, question, looks);
  return looks;
}

// The bets that it takes to decide: against no difference, and against either margin.
class AlwaysValid {
 public:
  explicit AlwaysValid(const Question& question)
      : enough_(-std::log(question.alpha)), none_(0), above_(question.margin), below_(-question.margin) {}

  void add(double difference, int order) {
    for (SignBets* bets : {&none_, &above_, &below_}) bets->add(difference, order);
  }
  [[nodiscard]] double log_e() const { return none_.log_e(); }
  [[nodiscard]] bool rejects_none() const { return none_.log_e() >= enough_; }
  [[nodiscard]] bool rejects_margins() const { return above_.log_e() >= enough_ && below_.log_e() >= enough_; }

 private:
  double enough_;
  SignBets none_, above_, below_;
};

// As the bets say, however far the search for its ends came.
void make_consistent(Look& look, const Question& question) {
  if (!look.interval) return;
  Interval& interval = *look.interval;
  interval.confidence = 1 - question.alpha;
  const double least = std::numeric_limits<double>::min();
  if (look.direction == Direction::slower) interval.low = std::max(interval.low, least);
  if (look.direction == Direction::faster) interval.high = std::min(interval.high, -least);
  if (look.direction != Direction::unresolved && look.direction != Direction::equivalent) return;
  interval.low = std::min(interval.low, 0.0);
  interval.high = std::max(interval.high, 0.0);
  if (look.direction == Direction::unresolved) return;
  interval.low = std::max(interval.low, -question.margin);
  interval.high = std::min(interval.high, question.margin);
}

std::vector<Look> always_valid(const CoinPairs& pairs, const Question& question) {
  std::vector<Look> looks;
  AlwaysValid bets(question);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    bets.add(pairs.differences[pair], pairs.order.empty() ? 0 : pairs.order[pair]);
    if (pair < 2) continue;
    const CoinPairs so_far = pairs.first(pair + 1);
    Look& look = looks.emplace_back();
    look.pairs = static_cast<int>(so_far.size());
    look.level = question.alpha;
    look.p = std::min(1.0, std::exp(-bets.log_e()));
    look.estimate = coin_estimate(so_far);
    if (bets.rejects_none()) {
      look.direction = look.estimate > 0 ? Direction::slower : Direction::faster;
    } else if (question.margin > 0 && bets.rejects_margins()) {
      look.direction = Direction::equivalent;
    }
    if (resolves(look)) break;
  }
  if (looks.empty()) return looks;
  Look& last = looks.back();
  last.interval = e_interval(pairs.first(static_cast<std::size_t>(last.pairs)), last.estimate, question.alpha);
  make_consistent(last, question);
  return looks;
}

Question question_of(const Design& design, std::size_t most_pairs) {
  Question question{design.alpha, design.margin, 0, design.equal_signs_decide, {}, {}};
  if (design.until_resolved) return question;
  INFERMETER_CHECK(!design.looks.empty());
  question.planned = design.looks.back();
  std::ranges::copy_if(design.looks, std::back_inserter(question.counts),
                       [&](int look) { return static_cast<std::size_t>(look) <= most_pairs; });
  question.levels = levels_of(question.counts, question, false);
  return question;
}

std::vector<Look> looks_of(const CoinPairs& pairs, const Design& design, const Question& question, bool ended) {
  return design.until_resolved ? always_valid(pairs, question) : group_sequential(pairs, question, ended);
}

bool has_direction(const std::vector<Look>& looks) {
  if (looks.empty()) return false;
  const Direction last = looks.back().direction;
  return last == Direction::faster || last == Direction::slower;
}

}  // namespace

std::vector<int> usual_looks(int max_pairs) {
  INFERMETER_CHECK(max_pairs > 0);
  std::vector<int> looks;
  for (int pairs = 8; pairs < max_pairs; pairs += pairs < 16 ? 2 : pairs < 40 ? 4 : 8) looks.push_back(pairs);
  looks.push_back(max_pairs);
  return looks;
}

Direction direction_within(const std::optional<Interval>& difference, double margin) {
  if (!difference) return Direction::unresolved;
  if (difference->low > 0) return Direction::slower;
  if (difference->high < 0) return Direction::faster;
  return -margin < difference->low && difference->high < margin ? Direction::equivalent : Direction::unresolved;
}

std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::faster: return "faster";
    case Direction::slower: return "slower";
    case Direction::equivalent: return "equivalent";
    case Direction::unresolved: break;
  }
  return "unresolved";
}

Design share_of(const Design& design, std::size_t candidates) {
  Design share = design;
  if (candidates < 2) return share;
  share.alpha /= static_cast<double>(candidates);
  share.equal_signs_decide = false;
  return share;
}

std::vector<PlannedLook> planned_looks(const Design& design, int pairs, bool ended) {
  INFERMETER_CHECK(!design.until_resolved);
  const Question question = question_of(design, static_cast<std::size_t>(std::max(pairs, 0)));
  std::vector<int> counts = question.counts;
  const bool ends_here = ended && pairs > 0 && pairs < question.planned;
  if (ends_here && (counts.empty() || counts.back() != pairs)) counts.push_back(pairs);
  const auto levels = ends_here ? levels_of(counts, question, true) : question.levels;
  std::vector<PlannedLook> looks;
  for (std::size_t k = 0; k < counts.size(); ++k) looks.push_back({counts[k], levels[k]});
  return looks;
}

std::vector<Look> take_looks(const CoinPairs& pairs, const Design& design, bool ended) {
  return looks_of(pairs, design, question_of(design, pairs.size()), ended);
}

std::vector<std::vector<Look>> take_looks_together(std::span<const CoinPairs> candidates, const Design& design,
                                                   bool ended) {
  std::vector<std::vector<Look>> looks(candidates.size());
  std::size_t most_pairs = 0;
  for (const CoinPairs& candidate : candidates) most_pairs = std::max(most_pairs, candidate.size());
  std::size_t open = candidates.size();
  // Each round tests those that no earlier round resolved, with the share that those left them.
  for (std::size_t before = open + 1; open > 0 && open < before;) {
    before = open;
    Design share = share_of(design, candidates.size());
    share.alpha = design.alpha / static_cast<double>(before);
    const Question question = question_of(share, most_pairs);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (has_direction(looks[i])) continue;
      looks[i] = looks_of(candidates[i], design, question, ended);
      if (has_direction(looks[i])) --open;
    }
  }
  return looks;
}

}  // namespace infermeter
