#include "infermeter/profile/explain/clause_words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "infermeter/text/counts.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kLongestName = 60;
constexpr std::size_t kMostKinds = 3;

// Cut between two characters of UTF-8.
std::string shortened(std::string_view text) {
  if (text.size() <= kLongestName) return std::string(text);
  std::size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  return std::string(text.substr(0, end)) + "…";
}

// How many groups of each kind, most first.
std::vector<std::pair<std::string, std::size_t>> kinds_of_members(std::span<const std::size_t> members,
                                                                  const std::vector<GroupDifference>& groups) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  for (const std::size_t member : members) {
    const std::string& kind = groups[member].group.kind;
    const auto known = std::ranges::find(kinds, kind, &std::pair<std::string, std::size_t>::first);
    if (known == kinds.end())
      kinds.emplace_back(kind, 1);
    else
      ++known->second;
  }
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &std::pair<std::string, std::size_t>::second);
  return kinds;
}

std::string one_group(const CommonGroup& group) {
  if (group.is_helper || group.nodes.empty()) return shortened(group.kind);
  const std::string name = fmt::format("{} '{}'", shortened(group.kind), shortened(group.nodes.front()));
  if (group.nodes.size() == 1) return name;
  return fmt::format("{} and {} more node{}", name, group.nodes.size() - 1, group.nodes.size() == 2 ? "" : "s");
}

// "16 Conv 3x3" where all are convolutions of one size.
std::string shared_size(std::span<const std::size_t> members, const std::vector<GroupFacts>& facts) {
  const std::string& size = facts[members.front()].kernel_size;
  const auto same = [&](std::size_t member) { return facts[member].kernel_size == size; };
  return std::ranges::all_of(members, same) ? size : "";
}

std::string operators_named(std::span<const std::size_t> members, const std::vector<GroupDifference>& groups,
                            const std::vector<GroupFacts>& facts) {
  if (members.size() == 1) return one_group(groups[members.front()].group);
  const bool helpers = std::ranges::all_of(members, [&](std::size_t i) { return groups[i].group.is_helper; });
  const auto kinds = kinds_of_members(members, groups);
  std::string words;
  std::size_t named = 0;
  for (std::size_t i = 0; i < std::min(kinds.size(), kMostKinds); ++i) {
    if (i > 0) words += ", ";
    words += helpers ? shortened(kinds[i].first) : fmt::format("{} {}", kinds[i].second, shortened(kinds[i].first));
    named += kinds[i].second;
  }
  if (named < members.size()) words += fmt::format(" and {} more", members.size() - named);
  const std::string size = kinds.size() == 1 ? shared_size(members, facts) : "";
  return size.empty() ? words : words + " " + size;
}

bool is_shared(Fact fact, std::span<const std::size_t> members, const std::vector<GroupFacts>& facts, double mean_s) {
  return std::ranges::all_of(members, [&](std::size_t member) {
    const DifferingFact* found = facts[member].find(fact);
    return found != nullptr && (found->slower == 0 || (found->slower > 0) == (mean_s > 0));
  });
}

// Numbers of operators on both sides, over all groups.
std::string counted(std::span<const std::size_t> members, const std::vector<GroupDifference>& groups) {
  std::size_t a = 0;
  std::size_t b = 0;
  for (const std::size_t member : members) {
    a += groups[member].group.in_a.size();
    b += groups[member].group.in_b.size();
  }
  return fmt::format("{} -> {} operators", a, b);
}

struct Words {
  std::string_view before, after;  // around "x -> y"
  std::string_view several;        // where the groups have different ones
};

Words words_for(Fact fact) {
  switch (fact) {
    case Fact::precision: return {"", "", "other precisions"};
    case Fact::layout: return {"", " layout", "other layouts"};
    case Fact::kernel: return {"kernel ", "", "other kernels"};
    case Fact::provider: return {"", "", "other providers"};
    case Fact::parallel: return {"", " threads", "fewer threads at work"};
    case Fact::one_side: return {"", "", "not on both sides"};
    case Fact::conversions:
    case Fact::fusion: break;
  }
  return {};
}

std::string fact_words(Fact fact, std::span<const std::size_t> members, const std::vector<GroupDifference>& groups,
                       const std::vector<GroupFacts>& facts) {
  if (fact == Fact::conversions || fact == Fact::fusion) return counted(members, groups);
  const Words words = words_for(fact);
  const DifferingFact& first = *facts[members.front()].find(fact);
  const bool same = std::ranges::all_of(members, [&](std::size_t member) {
    const DifferingFact& other = *facts[member].find(fact);
    return other.from == first.from && other.to == first.to;
  });
  if (!same || (first.from.empty() && first.to.empty())) return std::string(words.several);
  if (fact == Fact::one_side) return fmt::format("in {} only", first.from.empty() ? first.to : first.from);
  return fmt::format("{}{} -> {}{}", words.before, shortened(first.from), shortened(first.to), words.after);
}

}  // namespace

std::vector<Fact> shared_facts(std::span<const std::size_t> members, const std::vector<GroupFacts>& facts,
                               double mean_s) {
  std::vector<Fact> shared;
  if (members.empty()) return shared;
  for (const DifferingFact& candidate : facts[members.front()].differing) {
    if (is_shared(candidate.fact, members, facts, mean_s)) shared.push_back(candidate.fact);
  }
  return shared;
}

Cause cause_of(std::span<const std::size_t> members, const std::vector<GroupFacts>& facts, double mean_s) {
  if (members.size() == 1 && facts[members.front()].is_rest) return Cause::between_operators;
  const std::vector<Fact> shared = shared_facts(members, facts, mean_s);
  if (shared.empty()) return Cause::unknown;
  switch (shared.front()) {
    case Fact::precision: return Cause::other_precision;
    case Fact::conversions: return Cause::extra_conversions;
    case Fact::fusion: return Cause::lost_fusion;
    case Fact::parallel: return Cause::less_parallel;
    case Fact::layout: return Cause::other_layout;
    case Fact::kernel:
    case Fact::provider: return Cause::other_kernel;
    case Fact::one_side: break;
  }
  return Cause::unknown;
}

std::string clause_words(std::span<const std::size_t> members, const std::vector<GroupDifference>& groups,
                         const std::vector<GroupFacts>& facts, double mean_s) {
  if (members.size() == 1 && facts[members.front()].is_rest) return "time between operators";
  std::string words;
  for (const Fact fact : shared_facts(members, facts, mean_s)) {
    words += (words.empty() ? "" : "; ") + fact_words(fact, members, groups, facts);
  }
  if (words.empty()) words = mean_s > 0 ? "slower here, cause not visible" : "faster here, cause not visible";
  return operators_named(members, groups, facts) + ": " + words;
}

}  // namespace infermeter
