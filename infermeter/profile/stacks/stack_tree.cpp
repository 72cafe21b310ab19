#include "infermeter/profile/stacks/stack_tree.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "infermeter/profile/explain/paired_groups.hpp"
#include "infermeter/profile/explain/process_p50.hpp"
#include "infermeter/profile/stacks/stack_sums.hpp"
#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kMostPlaces = 3;
constexpr double kNothing = 1e-12;  // seconds
constexpr double kJudged = 0.05;

double mean_of(std::span<const double> values) { return values.empty() ? 0 : moments_of(values).mean; }

// How a node's columns become its figures: of one subject its processes, of two the pairs of theirs.
class Reading {
 public:
  Reading(std::size_t columns, bool is_difference)
      : half_(is_difference ? columns / 2 : columns), is_difference_(is_difference) {}

  [[nodiscard]] std::vector<double> values(std::span<const double> columns) const {
    std::vector<double> result(columns.begin(),
                               columns.begin() + static_cast<std::ptrdiff_t>(std::min(half_, columns.size())));
    if (!is_difference_) return result;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = columns[half_ + i] - result[i];
    return result;
  }
  [[nodiscard]] double a(std::span<const double> columns) const { return mean_of(columns.first(half_)); }
  [[nodiscard]] double b(std::span<const double> columns) const { return mean_of(columns.last(half_)); }
  // What a node is drawn with: of a difference its larger side.
  [[nodiscard]] double size(std::span<const double> columns) const {
    return is_difference_ ? std::max(a(columns), b(columns)) : mean_of(columns);
  }
  [[nodiscard]] bool is_difference() const { return is_difference_; }
  [[nodiscard]] std::size_t processes() const { return half_; }

 private:
  std::size_t half_;
  bool is_difference_;
};

void add_to(std::vector<double>& sums, const std::vector<double>& values) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
}

class TreeWriter {
 public:
  TreeWriter(const StackSums& sums, const Reading& reading, StackTree& tree)
      : sums_(sums), reading_(reading), tree_(tree) {}

  // The floor rises until there are few enough.
  void write() {
    const double whole = reading_.size(sums_.walls);
    for (double floor = kSmallFrame * whole;; floor *= 1.5) {
      tree_.nodes.clear();
      p_.clear();
      write_whole(floor);
      const bool others = std::ranges::any_of(sums_.nodes[1].seconds, [](double seconds) { return seconds > 0; });
      if (others) write_node(sums_.nodes[1], std::nullopt, floor);
      if (tree_.nodes.size() <= kMostStackNodes || floor > whole) break;
      if (floor <= 0) floor = kNothing;
    }
    judge();
  }

 private:
  void write_whole(double floor) {
    SummedNode whole = sums_.nodes[0];
    SummedNode rest{.level = StackLevel::rest};
    rest.seconds = sums_.walls;
    for (std::size_t i = 0; i < rest.seconds.size(); ++i) rest.seconds[i] -= whole.seconds[i];
    rest.self = rest.seconds;
    whole.seconds = sums_.walls;
    write_node(whole, std::nullopt, floor);
    if (tree_.is_time &&
        std::ranges::any_of(rest.seconds, [](double seconds) { return std::abs(seconds) > kNothing; })) {
      write_node(rest, 0, floor);
    }
  }

  void write_node(const SummedNode& node, std::optional<std::size_t> parent, double floor) {
    const std::size_t place = tree_.nodes.size();
    add(node, parent);
    std::vector<const SummedNode*> shown, small;
    for (const auto& [key, child] : node.children) {
      const SummedNode& one = sums_.nodes[child];
      (reading_.size(one.seconds) < floor ? small : shown).push_back(&one);
    }
    if (small.size() == 1) shown.push_back(std::exchange(small, {})[0]);
    std::ranges::stable_sort(shown, std::ranges::greater{},
                             [&](const SummedNode* one) { return reading_.size(one->seconds); });
    for (const SummedNode* one : shown) write_node(*one, place, floor);
    if (small.empty()) return;
    SummedNode merged{.level = StackLevel::merged};
    merged.seconds.assign(sums_.walls.size(), 0);
    for (const SummedNode* one : small) {
      add_to(merged.seconds, one->seconds);
      merged.merged += std::max<std::size_t>(1, one->merged);
    }
    merged.self = merged.seconds;
    add(merged, place);
  }

  void add(const SummedNode& node, std::optional<std::size_t> parent) {
    StackNode one{.parent = parent, .level = node.level, .merged = node.merged};
    if (node.level == StackLevel::kind) one.kind = sums_.kinds[node.what];
    if (node.level == StackLevel::op) one.op = node.what;
    if (node.level == StackLevel::frame) one.function = node.what;  // of the sums: renumbered later
    const std::vector<double> values = reading_.values(node.seconds);
    one.mean_s = mean_of(values);
    one.self_s = mean_of(reading_.values(node.self));
    if (const auto interval = t_interval(values, 0.95)) {
      one.low_s = reading_.is_difference() ? interval->low : std::max(0.0, interval->low);
      one.high_s = interval->high;
    }
    if (reading_.is_difference()) {
      one.a_s = reading_.a(node.seconds);
      one.b_s = reading_.b(node.seconds);
      p_.push_back(values.size() < 2 ? 1 : tested_mean(values).p);
    }
    tree_.nodes.push_back(std::move(one));
  }

  void judge() {
    if (!reading_.is_difference()) return;
    const std::vector<double> adjusted = holm(p_);
    for (std::size_t i = 0; i < adjusted.size(); ++i) tree_.nodes[i].separable = adjusted[i] < kJudged;
  }

  const StackSums& sums_;
  const Reading& reading_;
  StackTree& tree_;
  std::vector<double> p_;  // per node
};

// Of one subject; differences have names alone.
class FunctionWriter {
 public:
  FunctionWriter(const StackSums& sums, const Reading& reading, std::span<const std::string> kind_of, StackTree& tree)
      : sums_(sums), reading_(reading), kind_of_(kind_of), tree_(tree) {}

  void write() {
    const std::vector<std::size_t> kept = chosen();
    std::vector<std::size_t> place(sums_.functions.size());
    for (const std::size_t function : kept) {
      place[function] = tree_.functions.size();
      tree_.functions.push_back(function_at(function));
    }
    for (StackNode& node : tree_.nodes) {
      if (node.function) node.function = place[*node.function];
    }
  }

 private:
  [[nodiscard]] double self_of(std::size_t function) const {
    const auto& self = sums_.functions[function].self;
    return self.empty() ? 0 : reading_.size(self);
  }

  // Those that nodes name, and the hottest; hottest first.
  [[nodiscard]] std::vector<std::size_t> chosen() const {
    std::vector<bool> named(sums_.functions.size());
    for (const StackNode& node : tree_.nodes) {
      if (node.function) named[*node.function] = true;
    }
    std::vector<std::size_t> order(sums_.functions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t function) { return self_of(function); });
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (named[order[i]] || (i < kMostHotFunctions && self_of(order[i]) > 0)) kept.push_back(order[i]);
    }
    return kept;
  }

  [[nodiscard]] StackFunction function_at(std::size_t index) const {
    const SummedFunction& sums = sums_.functions[index];
    StackFunction function{.frame = sums.frame};
    if (reading_.is_difference()) return function;
    const std::vector<double> none(sums_.walls.size());
    const std::vector<double>& self = sums.self.empty() ? none : sums.self;
    function.self_s = mean_of(self);
    if (const auto interval = t_interval(self, 0.95)) {
      function.low_s = std::max(0.0, interval->low);
      function.high_s = interval->high;
    }
    function.total_s = mean_of(sums.total);
    function.helper_s = mean_of(sums.helper);
    function.share = tree_.wall_s > 0 ? function.self_s / tree_.wall_s : 0;
    function.places = places_of(sums);
    return function;
  }

  [[nodiscard]] std::vector<StackPlace> places_of(const SummedFunction& sums) const {
    if (tree_.tagged_share <= 0) return {};
    std::map<std::string, StackPlace> by_kind;
    for (const auto& [op, seconds] : sums.self_by_op) {
      const bool outside = op == StackSums::kOutside;
      const std::string kind = outside ? "" : kind_of_[op].empty() ? "(kind unknown)" : kind_of_[op];
      StackPlace& place = by_kind[kind];
      place.kind = kind;
      place.self_s += seconds / static_cast<double>(sums_.walls.size());
      if (outside) continue;
      place.op = place.operators++ == 0 ? std::optional(op) : std::nullopt;
    }
    std::vector<StackPlace> places;
    for (auto& [kind, place] : by_kind) places.push_back(std::move(place));
    std::ranges::stable_sort(places, std::ranges::greater{}, &StackPlace::self_s);
    if (places.size() > kMostPlaces) places.resize(kMostPlaces);
    return places;
  }

  const StackSums& sums_;
  const Reading& reading_;
  std::span<const std::string> kind_of_;
  StackTree& tree_;
};

// ---- What goes into the columns ----

bool is_tagged(const StackTrial& trial) {
  return trial.profile != nullptr && std::ranges::any_of(trial.stacks->stacks.samples, [](const StackSample& sample) {
           return sample.op.has_value();
         });
}

// nullopt: nothing can be determined of it, or its operators are not those of the others.
std::optional<StackColumn> column_of(const StackTrial& trial, const OperatorProfile* operators) {
  if (trial.samples == nullptr || trial.stacks == nullptr || trial.stacks->stacks.samples.empty()) return std::nullopt;
  if (!(seconds_per_weight(*trial.samples, trial.stacks->stacks) > 0)) return std::nullopt;
  StackColumn column{.trial = trial, .op_of = {}};
  if (operators == nullptr || !is_tagged(trial)) return column;
  const auto same = same_operators(*operators, *trial.profile);
  if (!same) return std::nullopt;
  column.op_of.resize(trial.profile->operators.size());
  for (std::size_t op = 0; op < same->size(); ++op) column.op_of[(*same)[op]] = op;
  return column;
}

std::vector<StackColumn> columns_of(const StackTrials& trials, std::size_t& left_out) {
  std::vector<StackColumn> columns;
  for (const StackTrial& trial : trials.trials) {
    if (auto column = column_of(trial, trials.operators))
      columns.push_back(std::move(*column));
    else
      ++left_out;
  }
  return columns;
}

std::vector<std::string> operator_kinds_of(const OperatorProfile* operators) {
  std::vector<std::string> kinds;
  if (operators == nullptr) return kinds;
  for (const ProfiledOperator& op : operators->operators) kinds.push_back(op.kind);
  return kinds;
}

void describe(const std::vector<StackColumn>& columns, StackTree& tree) {
  const TrialStacks& first = *columns.front().trial.stacks;
  tree.method = first.method;
  tree.detail = first.detail;
  tree.is_python = first.is_python;
  tree.is_time =
      std::ranges::all_of(columns, [](const auto& column) { return column.trial.stacks->stacks.unit == "s"; });
}

void set_shares(const StackSums& sums, StackTree& tree) {
  tree.samples = sums.samples;
  if (sums.main_weight <= 0) return;
  tree.tagged_share = sums.tagged_weight / sums.main_weight;
  tree.unnamed_share = sums.unnamed_weight / sums.main_weight;
}

void set_distortion(const std::vector<StackColumn>& columns, std::span<const Samples* const> timed, StackTree& tree) {
  std::vector<const Samples*> profiled;
  for (const StackColumn& column : columns) profiled.push_back(column.trial.samples);
  tree.clean_p50_s = p50_of(timed);
  tree.profiled_p50_s = p50_of(profiled);
  tree.distorted = tree.clean_p50_s && tree.profiled_p50_s && *tree.profiled_p50_s > kDistortion * *tree.clean_p50_s;
}

StackTree summarised(std::vector<StackColumn> columns, const std::vector<std::string>& kinds, bool is_difference,
                     std::span<const Samples* const> timed, std::size_t left_out) {
  StackTree tree;
  tree.left_out = left_out;
  if (columns.empty()) return tree;
  describe(columns, tree);
  if (!is_difference) set_distortion(columns, timed, tree);
  const Reading reading(columns.size(), is_difference);
  const StackSums sums(std::move(columns), kinds);
  set_shares(sums, tree);
  tree.processes = reading.processes();
  tree.wall_s = mean_of(reading.values(sums.walls));
  TreeWriter(sums, reading, tree).write();
  FunctionWriter(sums, reading, kinds, tree).write();
  return tree;
}

// Their operators as the groups that they are in.
void regroup(std::vector<StackColumn>& columns, std::span<const GroupDifference> groups,
             std::vector<std::size_t> CommonGroup::* members) {
  std::map<std::size_t, std::size_t> group_of;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const std::size_t op : groups[group].group.*members) group_of.emplace(op, group);
  }
  for (StackColumn& column : columns) {
    for (auto& op : column.op_of) {
      const auto found = op ? group_of.find(*op) : group_of.end();
      op = found == group_of.end() ? std::nullopt : std::optional(found->second);
    }
  }
}

// Of the same process number; the first half are a's.
std::vector<StackColumn> paired(std::vector<StackColumn> a, std::vector<StackColumn> b, std::size_t& left_out) {
  std::vector<StackColumn> first, second;
  const auto process = [](const StackColumn& column) { return column.trial.samples->process; };
  left_out += a.size() + b.size();
  for (StackColumn& column : a) {
    if (std::ranges::find(first, process(column), process) != first.end()) continue;
    const auto partner = std::ranges::find(b, process(column), process);
    if (partner == b.end()) continue;
    first.push_back(std::move(column));
    second.push_back(std::move(*partner));
    left_out -= 2;
  }
  std::ranges::move(second, std::back_inserter(first));
  return first;
}

}  // namespace

std::string_view to_string(StackLevel level) {
  switch (level) {
    case StackLevel::whole: return "whole";
    case StackLevel::other_threads: return "other_threads";
    case StackLevel::kind: return "kind";
    case StackLevel::op: return "operator";
    case StackLevel::frame: return "frame";
    case StackLevel::rest: return "rest";
    case StackLevel::merged: return "merged";
  }
  return "";
}

StackTree stack_tree(const StackTrials& trials) {
  std::size_t left_out = 0;
  std::vector<StackColumn> columns = columns_of(trials, left_out);
  return summarised(std::move(columns), operator_kinds_of(trials.operators), false, trials.timed, left_out);
}

StackTree stack_difference(const StackTrials& a, const StackTrials& b, std::span<const GroupDifference> groups) {
  std::size_t left_out = 0;
  std::vector<StackColumn> of_a = columns_of(a, left_out), of_b = columns_of(b, left_out);
  regroup(of_a, groups, &CommonGroup::in_a);
  regroup(of_b, groups, &CommonGroup::in_b);
  std::vector<std::string> kinds;
  for (const GroupDifference& group : groups) kinds.push_back(group.group.kind);
  std::vector<StackColumn> columns = paired(std::move(of_a), std::move(of_b), left_out);
  return summarised(std::move(columns), kinds, true, {}, left_out);
}

}  // namespace infermeter
