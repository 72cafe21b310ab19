#include "infermeter/stats/sequential.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/moments.hpp"
#include "infermeter/stats/signed_rank.hpp"
#include "infermeter/stats/spending.hpp"

namespace infermeter {
namespace {

Direction direction_of(const std::optional<Interval>& interval, double margin) {
  if (!interval) return Direction::unresolved;
  if (interval->low > 0) return Direction::slower;
  if (interval->high < 0) return Direction::faster;
  return -margin < interval->low && interval->high < margin ? Direction::equivalent : Direction::unresolved;
}

bool resolves(const Look& look) { return look.direction != Direction::unresolved; }

// What stays the same over the looks of one candidate.
struct Question {
  double alpha;  // its share
  double margin;
  int planned;
  std::vector<int> counts;     // the planned looks that some candidate has the pairs for
  std::vector<double> levels;  // of each
};

Look look_at(std::span<const double> differences, double level, const Question& question) {
  Look look;
  look.pairs = static_cast<int>(differences.size());
  look.level = level;
  look.p = signed_rank_p(differences);
  look.estimate = hodges_lehmann(differences);
  look.interval = hodges_lehmann_interval(differences, 1 - level);
  if (look.interval) look.interval->confidence = 1 - question.alpha;
  look.direction = direction_of(look.interval, question.margin);
  return look;
}

// Looks as planned.
std::vector<Look> planned_looks(std::span<const double> differences, const Question& question) {
  std::vector<Look> looks;
  for (std::size_t k = 0; k < question.counts.size(); ++k) {
    const auto pairs = static_cast<std::size_t>(question.counts[k]);
    if (pairs > differences.size()) break;
    looks.push_back(look_at(differences.first(pairs), question.levels[k], question));
    if (resolves(looks.back())) break;
  }
  return looks;
}

// The last look where pairs end before they were planned to. A planned look at the same pairs is taken again, with what
// is left in place of its own level: rejecting there includes what it rejected.
void add_last_look(std::span<const double> differences, const Question& question, std::vector<Look>& looks) {
  const auto pairs = static_cast<int>(differences.size());
  if (!looks.empty() && looks.back().pairs == pairs) looks.pop_back();
  std::vector<int> counts(question.counts.begin(), question.counts.begin() + static_cast<std::ptrdiff_t>(looks.size()));
  counts.push_back(pairs);
  const double level = spending_levels(question.alpha, counts, question.planned, true).back();
  looks.push_back(look_at(differences, level, question));
}

std::vector<Look> group_sequential(std::span<const double> differences, const Question& question, bool ended) {
  std::vector<Look> looks = planned_looks(differences, question);
  const bool resolved = !looks.empty() && resolves(looks.back());
  const auto pairs = static_cast<int>(differences.size());
  if (ended && !resolved && pairs > 0 && pairs < question.planned) add_last_look(differences, question, looks);
  return looks;
}

std::vector<Look> always_valid(std::span<const double> differences, const Question& question) {
  std::vector<Look> looks;
  for (std::size_t pairs = 3; pairs <= differences.size(); ++pairs) {
    const auto so_far = differences.first(pairs);
    Look look;
    look.pairs = static_cast<int>(pairs);
    look.level = question.alpha;
    look.p = std::min(1.0, std::exp(-log_e_value(so_far)));
    look.estimate = moments_of(so_far).mean;
    look.interval = e_interval(so_far, question.alpha);
    look.direction = direction_of(look.interval, question.margin);
    looks.push_back(look);
    if (resolves(look)) break;
  }
  return looks;
}

Question question_of(const Design& design, double alpha, std::size_t most_pairs) {
  Question question{alpha, design.margin, 0, {}, {}};
  if (design.until_resolved) return question;
  INFERMETER_CHECK(!design.looks.empty());
  question.planned = design.looks.back();
  std::ranges::copy_if(design.looks, std::back_inserter(question.counts),
                       [&](int look) { return static_cast<std::size_t>(look) <= most_pairs; });
  question.levels = spending_levels(alpha, question.counts, question.planned, false);
  return question;
}

std::vector<Look> looks_of(std::span<const double> differences, const Design& design, const Question& question,
                           bool ended) {
  return design.until_resolved ? always_valid(differences, question) : group_sequential(differences, question, ended);
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
  for (int pairs = 8; pairs < max_pairs; pairs += 8) looks.push_back(pairs);
  looks.push_back(max_pairs);
  return looks;
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

std::vector<Look> take_looks(std::span<const double> differences, const Design& design, bool ended) {
  return looks_of(differences, design, question_of(design, design.alpha, differences.size()), ended);
}

std::vector<std::vector<Look>> take_looks_together(std::span<const std::vector<double>> differences,
                                                   const Design& design, bool ended) {
  std::vector<std::vector<Look>> looks(differences.size());
  std::size_t most_pairs = 0;
  for (const auto& candidate : differences) most_pairs = std::max(most_pairs, candidate.size());
  std::size_t open = differences.size();
  // Each round tests those that no earlier round resolved, with the share that those left them.
  for (std::size_t before = open + 1; open > 0 && open < before;) {
    before = open;
    const Question question = question_of(design, design.alpha / static_cast<double>(before), most_pairs);
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if (has_direction(looks[i])) continue;
      looks[i] = looks_of(differences[i], design, question, ended);
      if (has_direction(looks[i])) --open;
    }
  }
  return looks;
}

}  // namespace infermeter
