#include "infermeter/profile/explain/clauses.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "infermeter/profile/explain/clause_words.hpp"
#include "infermeter/stats/comparison/sequential.hpp"

namespace infermeter {
namespace {

constexpr double kAlpha = 0.05;
constexpr std::size_t kMostClauses = 10;
// A class stands for its members only if they all share in the difference: without the quarter of them that differ most
// it is still there, a third of it at least. Otherwise those few are the news, not what they have in common.
constexpr double kSpreadShare = 1.0 / 3;
constexpr double kSpreadAlpha = 0.01;
// Of clauses that say nearly the same, the one that reads best is taken.
constexpr double kNearlyAll = 0.95;

using Members = std::vector<std::size_t>;

std::string key_of(Fact fact) { return "fact " + std::to_string(static_cast<int>(fact)); }

// What a group has in common with others, apart from its kind.
std::vector<std::string> features_of(const GroupDifference& group, const GroupFacts& facts) {
  std::vector<std::string> features;
  if (group.group.is_helper)
    features.emplace_back("helper");
  else
    features.emplace_back("operator");
  if (!facts.kernel_size.empty()) features.push_back("size " + facts.kernel_size);
  if (!facts.shapes.empty()) features.push_back("shapes " + facts.shapes);
  for (const DifferingFact& fact : facts.differing) {
    features.push_back(key_of(fact.fact));
    features.push_back(key_of(fact.fact) + " " + fact.from + '\n' + fact.to);
  }
  return features;
}

struct ClauseCandidate {
  Members members;
  double mean_s = 0;
  Cause cause = Cause::unknown;
  std::size_t kinds = 0;
};

class Search {
 public:
  Search(PairedGroups& groups, const std::vector<GroupFacts>& facts) : groups_(groups), facts_(facts) {
    const std::vector<Members> classes = classes_of(groups.groups, facts);
    std::vector<double> p;
    for (const Members& members : classes) p.push_back(tested(members).p);
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (adjusted[i] > kAlpha) continue;
      if (classes[i].size() == 1) groups_.groups[classes[i].front()].separable = true;
      separable_.push_back(classes[i]);
    }
    bound_ = kAlpha / static_cast<double>(std::max<std::size_t>(classes.size(), 1));
    covered_.resize(groups.groups.size());
  }

  std::vector<Clause> run() {
    std::vector<Clause> clauses;
    while (clauses.size() < kMostClauses && !is_covered(clauses)) {
      std::optional<ClauseCandidate> best = best_left();
      if (!best) break;
      for (const std::size_t member : best->members) covered_[member] = true;
      clauses.push_back(clause_of(*best));
    }
    std::ranges::stable_sort(clauses, std::ranges::greater{}, [](const Clause& c) { return std::abs(c.mean_s); });
    return clauses;
  }

 private:
  TestedMean tested(const Members& members) const { return tested_mean(summed(groups_.differences, members)); }

  double mean(std::size_t group) const { return groups_.groups[group].mean_s; }

  // Of what is separable, effects that cancel each other included; and of the whole, as far as what is left of it is
  // not noise.
  bool is_covered(const std::vector<Clause>& clauses) const {
    if (clauses.empty()) return separable_.empty();
    double named = 0;
    for (const Clause& clause : clauses) named += std::abs(clause.mean_s);
    double open = 0;
    Members left;
    for (std::size_t i = 0; i < covered_.size(); ++i) {
      if (!covered_[i]) left.push_back(i);
      open += groups_.groups[i].separable && !covered_[i] ? std::abs(mean(i)) : 0;
    }
    if (open > (1 - kCovered) * (named + open)) return false;
    const TestedMean others = tested(left);
    const bool is_noise = others.low_s <= 0 && others.high_s >= 0;
    return is_noise || std::abs(others.mean_s) <= (1 - kCovered) * std::abs(tested_mean(groups_.whole).mean_s);
  }

  bool is_spread(const Members& members, double whole_s) const {
    if (members.size() == 1) return true;
    const double sign = whole_s > 0 ? 1 : -1;
    Members ordered = members;
    std::ranges::stable_sort(ordered, std::ranges::greater{}, [&](std::size_t i) { return sign * mean(i); });
    ordered.erase(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>((ordered.size() + 3) / 4));
    const TestedMean without = tested(ordered);
    return sign * without.mean_s >= kSpreadShare * sign * whole_s && without.p <= kSpreadAlpha;
  }

  std::optional<ClauseCandidate> candidate_of(const Members& members) const {
    Members left;
    std::ranges::copy_if(members, std::back_inserter(left), [&](std::size_t i) { return !covered_[i]; });
    if (left.empty()) return std::nullopt;
    const TestedMean mean = tested(left);
    if (left.size() < members.size() && mean.p > bound_) return std::nullopt;
    if (!is_spread(left, mean.mean_s)) return std::nullopt;
    std::set<std::string> kinds;
    for (const std::size_t member : left) kinds.insert(groups_.groups[member].group.kind);
    const Cause cause = cause_of(left, facts_, mean.mean_s);
    return ClauseCandidate{std::move(left), mean.mean_s, cause, kinds.size()};
  }

  std::optional<ClauseCandidate> best_left() const {
    std::vector<ClauseCandidate> candidates;
    double most = 0;
    for (const Members& members : separable_) {
      std::optional<ClauseCandidate> candidate = candidate_of(members);
      if (!candidate) continue;
      if (std::abs(candidate->mean_s) > std::abs(most)) most = candidate->mean_s;
      candidates.push_back(std::move(*candidate));
    }
    std::erase_if(candidates, [&](const ClauseCandidate& c) { return c.mean_s * most < kNearlyAll * most * most; });
    if (candidates.empty()) return std::nullopt;
    return std::move(*std::ranges::min_element(candidates, {}, [](const ClauseCandidate& c) {
      return std::tuple(c.cause == Cause::unknown, c.kinds, -std::abs(c.mean_s), c.members.size());
    }));
  }

  Clause clause_of(const ClauseCandidate& candidate) const {
    const TestedMean mean = tested(candidate.members);
    const double whole = tested_mean(groups_.whole).mean_s;
    return {.sentence = clause_words(candidate.members, groups_.groups, facts_, mean.mean_s),
            .groups = candidate.members,
            .mean_s = mean.mean_s,
            .low_s = mean.low_s,
            .high_s = mean.high_s,
            .share = whole != 0 ? mean.mean_s / whole : 0,
            .cause = candidate.cause};
  }

  PairedGroups& groups_;
  const std::vector<GroupFacts>& facts_;
  std::vector<Members> separable_;
  std::vector<bool> covered_;
  double bound_ = 0;  // for what earlier clauses leave of a class: Bonferroni's, below Holm's
};

}  // namespace

std::vector<std::vector<std::size_t>> classes_of(const std::vector<GroupDifference>& groups,
                                                 const std::vector<GroupFacts>& facts) {
  std::map<std::string, Members> by_feature;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (facts[i].is_rest) continue;
    const std::string kind = "kind " + groups[i].group.kind;
    by_feature[kind].push_back(i);
    for (const std::string& feature : features_of(groups[i], facts[i])) {
      by_feature[feature].push_back(i);
      by_feature[kind + '\n' + feature].push_back(i);
    }
  }
  std::set<Members> distinct;
  for (std::size_t i = 0; i < groups.size(); ++i) distinct.insert({i});
  for (auto& [feature, members] : by_feature) distinct.insert(std::move(members));
  return {distinct.begin(), distinct.end()};
}

std::vector<Clause> find_clauses(PairedGroups& groups, const std::vector<GroupFacts>& facts) {
  return Search(groups, facts).run();
}

}  // namespace infermeter
