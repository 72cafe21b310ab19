#include "infermeter/verdict/gate/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace infermeter {

bool Expectation::compares() const {
  switch (kind) {
    case Kind::speedup:
    case Kind::size_reduction:
    case Kind::outputs_agree:
    case Kind::counter_difference:
    case Kind::output_figure:
    case Kind::accuracy_drop:
    case Kind::perplexity_increase: return true;
    default: return false;
  }
}

bool Expectation::has_bound() const {
  return kind != Kind::no_regression && kind != Kind::outputs_agree && kind != Kind::outputs_repeat &&
         kind != Kind::no_leak && kind != Kind::reproducible;
}

std::string_view to_string(Relation relation) {
  switch (relation) {
    case Relation::less: return "<";
    case Relation::less_or_equal: return "<=";
    case Relation::greater: return ">";
    case Relation::greater_or_equal: return ">=";
    case Relation::equal: return "==";
  }
  return "";
}

Result<Done> check_labels(std::span<const Expectation> expectations, const Plan& plan) {
  const auto perplexity = std::ranges::find(expectations, Expectation::Kind::perplexity_increase, &Expectation::kind);
  if (perplexity != expectations.end() && plan.data.labels != "next") {
    return usage_error(fmt::format(
        "'{}' needs texts as tokens, of which each next one is right (data = \"tokens.npy\", labels = \"next\")",
        perplexity->source.text));
  }
  if (plan.data.source != "synthetic" || !plan.data.labels.empty()) return Done{};
  const auto drop = std::ranges::find(expectations, Expectation::Kind::accuracy_drop, &Expectation::kind);
  if (drop == expectations.end()) return Done{};
  return usage_error(fmt::format("'{}' needs data with labels (--data, --labels)", drop->source.text));
}

}  // namespace infermeter
