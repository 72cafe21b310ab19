#include "infermeter/verdict/gate/expectation.hpp"

namespace infermeter {

bool Expectation::compares() const {
  switch (kind) {
    case Kind::speedup:
    case Kind::size_reduction:
    case Kind::outputs_agree:
    case Kind::counter_difference:
    case Kind::output_figure:
    case Kind::accuracy_drop: return true;
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

}  // namespace infermeter
