#include "infermeter/profile/explain/group_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <tuple>
#include <utility>

namespace infermeter {
namespace {

// Threads at work on each side are distinguished from here on.
constexpr double kLessParallel = 0.8;

double mean_seconds(const SubjectOperatorTimes& times, std::size_t op) {
  double sum = 0;
  for (const ProcessOperatorTimes& process : times.processes) sum += process.operator_s[op];
  return times.processes.empty() ? 0 : sum / static_cast<double>(times.processes.size());
}

// The operator that does most of the group's work on this side; nullptr: it has none here.
const ProfiledOperator* heaviest(const std::vector<std::size_t>& operators, const SubjectOperatorTimes& times) {
  const ProfiledOperator* best = nullptr;
  std::pair<double, double> most;
  for (const std::size_t op : operators) {
    if (op >= times.profile->operators.size()) continue;
    const ProfiledOperator& candidate = times.profile->operators[op];
    const std::pair weight(candidate.flops.value_or(0), mean_seconds(times, op));
    if (best != nullptr && weight <= most) continue;
    best = &candidate;
    most = weight;
  }
  return best;
}

bool differ(const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; }

bool layouts_differ(const std::string& a, const std::string& b) {
  if (!differ(a, b)) return false;
  const LayoutClass of_a = layout_class(a);
  return of_a == LayoutClass::unknown || of_a != layout_class(b);
}

// Where the runtime does not report an operator's precision, it is the subject's.
const std::string& precision_of(const ProfiledOperator& op, const ExplainedSide& side, bool is_reported) {
  return is_reported ? op.precision : side.facts.dtype;
}

void compare_words(const ProfiledOperator& a, const ProfiledOperator& b, const ExplainedSide& side_a,
                   const ExplainedSide& side_b, bool is_helper, GroupFacts& facts) {
  const auto add = [&](Fact fact, const std::string& from, const std::string& to) {
    facts.differing.push_back({fact, from, to, 0});
  };
  const bool reported = !a.precision.empty() || !b.precision.empty() || is_helper;
  const std::string& precision_a = precision_of(a, side_a, reported);
  const std::string& precision_b = precision_of(b, side_b, reported);
  if (differ(precision_a, precision_b)) add(Fact::precision, precision_a, precision_b);
  if (layouts_differ(a.layout, b.layout)) add(Fact::layout, a.layout, b.layout);
  if (differ(a.kernel, b.kernel)) add(Fact::kernel, a.kernel, b.kernel);
  // Providers and kinds of two runtimes always have different names.
  if (side_a.facts.runtime != side_b.facts.runtime) return;
  if (differ(a.provider, b.provider)) add(Fact::provider, a.provider, b.provider);
  // Where a runtime does not report kernels, its kinds of operators stand for them: "Conv", "FusedConv".
  if (a.kernel.empty() && b.kernel.empty() && differ(a.kind, b.kind)) add(Fact::kernel, a.kind, b.kind);
}

void compare_counts(const CommonGroup& group, GroupFacts& facts) {
  const std::size_t a = group.in_a.size();
  const std::size_t b = group.in_b.size();
  if (a == b) return;
  const int more = a > b ? -1 : 1;
  if (group.is_helper) {
    facts.differing.push_back({Fact::conversions, std::to_string(a), std::to_string(b), more});
  } else if (a == 0 || b == 0) {
    facts.differing.push_back({Fact::one_side, a == 0 ? "" : "A", b == 0 ? "" : "B", more});
  } else {
    facts.differing.push_back({Fact::fusion, std::to_string(a), std::to_string(b), more});
  }
}

std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Threads at work on average; 0: nothing is recorded of other threads.
double parallel(const std::vector<std::size_t>& operators, const SubjectOperatorTimes& times) {
  double own = 0;
  double others = 0;
  for (const ProcessOperatorTimes& process : times.processes) {
    for (const std::size_t op : operators) {
      if (op >= process.operator_s.size()) continue;
      own += process.operator_s[op];
      others += process.helper_s[op];
    }
  }
  return own > 0 && others > 0 ? 1 + others / own : 0;
}

void compare_threads(const CommonGroup& group, const ExplainedSide& a, const ExplainedSide& b, GroupFacts& facts) {
  const std::optional<int> threads_a = whole_number(a.facts.threads);
  const std::optional<int> threads_b = whole_number(b.facts.threads);
  if (threads_a && threads_b && *threads_a != *threads_b) {
    facts.differing.push_back({Fact::parallel, a.facts.threads, b.facts.threads, *threads_a < *threads_b ? -1 : 1});
    return;
  }
  const double at_work_a = parallel(group.in_a, a.times);
  const double at_work_b = parallel(group.in_b, b.times);
  if (at_work_a <= 0 || at_work_b <= 0) return;
  if (at_work_b < kLessParallel * at_work_a) facts.differing.push_back({Fact::parallel, "", "", 1});
  if (at_work_a < kLessParallel * at_work_b) facts.differing.push_back({Fact::parallel, "", "", -1});
}

}  // namespace

const DifferingFact* GroupFacts::find(Fact fact) const {
  const auto found = std::ranges::find(differing, fact, &DifferingFact::fact);
  return found == differing.end() ? nullptr : &*found;
}

SubjectFacts subject_facts(const SubjectOperatorTimes& subject) {
  if (subject.trials.empty()) return {};
  const Samples& first = *subject.trials.front();
  return {first.executed_value("dtype"), first.executed_value("threads"), first.executed_value("runtime")};
}

GroupFacts group_facts(const CommonGroup& group, const ExplainedSide& a, const ExplainedSide& b) {
  GroupFacts facts;
  facts.is_rest = group.kind == kRestKind && group.in_a.empty() && group.in_b.empty();
  if (facts.is_rest) return facts;
  const ProfiledOperator* of_a = heaviest(group.in_a, a.times);
  const ProfiledOperator* of_b = heaviest(group.in_b, b.times);
  if (of_a != nullptr && of_b != nullptr) compare_words(*of_a, *of_b, a, b, group.is_helper, facts);
  compare_counts(group, facts);
  if (!group.is_helper) compare_threads(group, a, b, facts);
  std::ranges::stable_sort(facts.differing, {}, &DifferingFact::fact);
  for (const ProfiledOperator* op : {of_a, of_b}) {
    if (op == nullptr || group.is_helper) continue;
    if (facts.shapes.empty()) facts.shapes = op->shapes;
    if (facts.kernel_size.empty() && group.kind.find("Conv") != std::string::npos)
      facts.kernel_size = kernel_size_of(op->shapes);
  }
  return facts;
}

std::string kernel_size_of(std::string_view shapes) {
  const std::string_view inputs = shapes.substr(0, shapes.find("->"));
  const std::size_t first_end = inputs.find(')');
  if (first_end == std::string_view::npos) return "";
  const std::size_t begin = inputs.find('(', first_end);
  const std::size_t end = begin == std::string_view::npos ? begin : inputs.find(')', begin);
  if (end == std::string_view::npos) return "";
  std::vector<std::string> dimensions(1);
  for (const char c : inputs.substr(begin + 1, end - begin - 1)) {
    if (c == ',') dimensions.emplace_back();
    if (c >= '0' && c <= '9') dimensions.back() += c;
    if (dimensions.size() > 5 || dimensions.back().size() > 5) return "";
  }
  if (dimensions.size() < 3) return "";
  std::string size;
  for (std::size_t i = 2; i < dimensions.size(); ++i) {
    if (dimensions[i].empty()) return "";
    size += (i > 2 ? "x" : "") + dimensions[i];
  }
  return size;
}

LayoutClass layout_class(std::string_view layout) {
  std::string lower(layout.substr(0, 32));
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  constexpr std::array plain = {"plain", "nchw", "ncdhw", "ncw", "a", "ab", "abc", "abcd", "abcde"};
  constexpr std::array last = {"channels_last", "channels last", "nhwc", "ndhwc", "nwc", "acb", "acdb", "acdeb"};
  if (std::ranges::find(plain, lower) != plain.end()) return LayoutClass::plain;
  if (std::ranges::find(last, lower) != last.end()) return LayoutClass::channels_last;
  const bool has_block = lower.find_first_of("0123456789") != std::string::npos;  // "aBcd16b", "nChw8c"
  if (lower == "blocked" || lower == "nchwc" || has_block) return LayoutClass::blocked;
  return LayoutClass::unknown;
}

}  // namespace infermeter
