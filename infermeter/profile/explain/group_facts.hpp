// What is recorded of a common group's two sides, and in what they differ. Facts, not times: a clause's cause is one of
// them or none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/profile/explain/explanation.hpp"
#include "infermeter/profile/operators/operator_times.hpp"

namespace infermeter {

// In the order in which a clause's cause is chosen: a precision brings its own kernel and layout with it.
enum class Fact { precision, conversions, fusion, parallel, layout, kernel, provider, one_side };

struct DifferingFact {
  Fact fact = Fact::kernel;
  std::string from, to;  // A's word and B's; operators as numbers; empty: there are no words
  int slower = 0;        // a cause only if this side is the slower one: -1 A, 1 B, 0 either
};

struct GroupFacts {
  bool is_rest = false;
  std::string kernel_size;  // "3x3", of convolutions; empty: not known
  std::string shapes;       // of its heaviest operator
  std::vector<DifferingFact> differing;

  [[nodiscard]] const DifferingFact* find(Fact fact) const;
};

// Of the whole subject, as the back end reports it.
struct SubjectFacts {
  std::string dtype, threads, runtime;
};
[[nodiscard]] SubjectFacts subject_facts(const SubjectOperatorTimes& subject);

struct ExplainedSide {
  const SubjectOperatorTimes& times;
  SubjectFacts facts;
};
[[nodiscard]] GroupFacts group_facts(const CommonGroup& group, const ExplainedSide& a, const ExplainedSide& b);

// "3x3" of "(1, 64, 56, 56), (64, 64, 3, 3) -> (1, 64, 56, 56)": the second tensor's dimensions from the third on.
// Empty: there are none.
[[nodiscard]] std::string kernel_size_of(std::string_view shapes);

// Runtimes have words of their own for one order of a tensor's elements: "NCHWc" and "aBcd16b" are both blocked.
enum class LayoutClass { plain, channels_last, blocked, unknown };
[[nodiscard]] LayoutClass layout_class(std::string_view layout);

}  // namespace infermeter
