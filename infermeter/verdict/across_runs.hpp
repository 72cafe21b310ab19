// A subject of one run and its like in another: which it is, and whether the two may be compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// The subject of `other` with the same label, else the only one of the same series.
[[nodiscard]] std::optional<int> same_subject(const RunRecord& run, int subject, const RunRecord& other);

struct Conditions {
  // Why a difference would not be one of what is measured: another machine, precision, thread count, device, provider,
  // batch size or other input bytes.
  std::vector<std::string> obstacles;
  // What is measured and may well be another: the model's contents, the runtime's version.
  std::vector<std::string> changes;
};

// `name` is what the other run is called in the sentences: "nightly".
[[nodiscard]] Conditions compare_conditions(const RunRecord& run, int subject, const RunRecord& other,
                                            int other_subject, const std::string& name);

// Is it the very same that was measured again?
[[nodiscard]] bool is_repetition(const RunRecord& run, int subject, const RunRecord& other, int other_subject);

}  // namespace infermeter
