// Profiles in words and tables: which operator takes how long, and why one subject is slower than another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// One subject's operators: a table of the slowest, the others and the rest as rows of their own, so that the times add
// up to the wall time.
struct OperatorText {
  std::string title;               // "onnxruntime: 58 operators, 8 processes; p50 19.1 ms profiled, 18.9 ms otherwise"
  Grid grid;                       // no rows: there is no profile
  Grid memory{};                   // the operators that need most; no rows: the runtime does not report
  std::vector<std::string> lines;  // what is to be known of it: its sources, what is missing
};
[[nodiscard]] std::vector<OperatorText> operator_texts(const RunRecord& record, const ProfileFindings& findings,
                                                       std::size_t most_operators);

// "why openvino against onnxruntime: 53 Conv …": one of profile_answers(findings) in words.
[[nodiscard]] std::string why_sentence(const RunRecord& record, const ProfileFindings& findings, const Answer& answer);

// "+1.2 ms", "-340 µs"
[[nodiscard]] std::string signed_time(double seconds);

}  // namespace infermeter
