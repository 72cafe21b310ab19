#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "infermeter/profile/operators/attribution.hpp"
#include "infermeter/profile/operators/operator_kinds.hpp"

namespace infermeter {
namespace {

// Disjoint sets with path halving; the smaller index becomes the root (Tarjan & van Leeuwen 1984).
class Sets {
 public:
  std::size_t add() {
    parent_.push_back(parent_.size());
    return parent_.size() - 1;
  }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

class Groups {
  using Weight = std::tuple<bool, double, double>;

 public:
  std::vector<CommonGroup> make(const std::vector<ProfiledOperator>& a, const std::vector<ProfiledOperator>& b) {
    for (const auto* const side : {&a, &b}) {
      for (const ProfiledOperator& op : *side) unite(op);
    }
    for (std::size_t node = 0; node < names_.size(); ++node) {
      group_at(sets_.root(node)).nodes.emplace_back(names_[node]);
    }
    add_side(a, &CommonGroup::in_a);
    add_side(b, &CommonGroup::in_b);
    for (auto& [kind, helper] : helpers_) groups_.push_back(std::move(helper));
    return std::move(groups_);
  }

 private:
  void unite(const ProfiledOperator& op) {
    std::size_t first = SIZE_MAX;
    for (const std::string& name : op.nodes) {
      const auto [place, is_new] = index_.emplace(name, names_.size());
      if (is_new) {
        names_.push_back(name);
        sets_.add();
      }
      first == SIZE_MAX ? (void)(first = place->second) : sets_.unite(first, place->second);
    }
  }

  CommonGroup& group_at(std::size_t root) {
    const auto [place, is_new] = group_of_.emplace(root, groups_.size());
    if (is_new) {
      groups_.emplace_back();
      weights_.emplace_back(false, -1, -1);
    }
    return groups_[place->second];
  }

  void add_side(const std::vector<ProfiledOperator>& operators, std::vector<std::size_t> CommonGroup::* side) {
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const ProfiledOperator& op = operators[i];
      if (op.nodes.empty()) {
        CommonGroup& helper = helpers_[plain_kind(op.kind)];
        helper.kind = plain_kind(op.kind);
        helper.is_helper = true;
        (helper.*side).push_back(i);
        continue;
      }
      const std::size_t at = group_of_.at(sets_.root(index_.at(op.nodes.front())));
      (groups_[at].*side).push_back(i);
      // Words that say something first; then by work, then by bytes; of equal ones A's.
      const Weight weight = {!is_composite_kind(op.kind), op.flops.value_or(0), op.moved_bytes.value_or(0)};
      if (weight <= weights_[at]) continue;
      weights_[at] = weight;
      groups_[at].kind = plain_kind(op.kind);
    }
  }

  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<std::string_view> names_;  // nodes, in order of execution
  Sets sets_;
  std::unordered_map<std::size_t, std::size_t> group_of_;  // root -> group
  std::vector<CommonGroup> groups_;
  std::vector<Weight> weights_;
  std::map<std::string, CommonGroup> helpers_;
};

}  // namespace

std::vector<CommonGroup> common_groups(const std::vector<ProfiledOperator>& a, const std::vector<ProfiledOperator>& b) {
  return Groups().make(a, b);
}

}  // namespace infermeter
