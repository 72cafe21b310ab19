// Call stacks in words and tables: which functions an inference is in.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "infermeter/profile/stacks/stack_tree.hpp"
#include "infermeter/report/profile/text.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// Of each subject and method the functions with most time of their own; titles tell method, samples and what is
// unnamed.
[[nodiscard]] std::vector<OperatorText> stack_texts(const RunRecord& record, const ProfileFindings& findings,
                                                    std::size_t most_functions);

// "perf_event" -> "perf_event", "py_spy" -> "py-spy": as the tools call themselves.
[[nodiscard]] std::string stack_method_name(const std::string& method);

}  // namespace infermeter
