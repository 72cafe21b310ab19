#include "infermeter/verdict/answers/check.hpp"

#include <algorithm>

namespace infermeter {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return "pass";
    case Outcome::fail: return "fail";
    case Outcome::inconclusive: return "inconclusive";
  }
  return "";
}

std::optional<Outcome> outcome_of(const std::vector<Check>& checks) {
  const auto any = [&](Outcome outcome) {
    return std::ranges::any_of(checks,
                               [&](const Check& check) { return check.outcome == outcome && !check.is_caveat; });
  };
  for (const Outcome outcome : {Outcome::fail, Outcome::inconclusive, Outcome::pass}) {
    if (any(outcome)) return outcome;
  }
  return std::nullopt;
}

}  // namespace infermeter
