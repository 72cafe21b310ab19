#include "infermeter/samples/operator_profile.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

constexpr std::array<std::pair<OriginRule, std::string_view>, 5> rules = {{
    {OriginRule::exact, "exact"},
    {OriginRule::tensor, "tensor"},
    {OriginRule::suffix, "suffix"},
    {OriginRule::inferred, "inferred"},
    {OriginRule::none, "none"},
}};

}  // namespace

std::string_view to_string(OriginRule rule) {
  const auto* found = std::ranges::find(rules, rule, &decltype(rules)::value_type::first);
  INFERMETER_CHECK(found != rules.end());
  return found->second;
}

bool name_to_value(std::string_view name, OriginRule& rule) {
  const auto* found = std::ranges::find(rules, name, &decltype(rules)::value_type::second);
  if (found == rules.end()) return false;
  rule = found->first;
  return true;
}

}  // namespace infermeter
