// The settings that `infermeter tune` tries: every combination of the values that were named, or single changes where
// none were.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/draft.hpp"

namespace infermeter {

// So many settings race; of more so many are drawn.
inline constexpr std::size_t kMostSettings = 60;

// "threads=1,2"
struct TunedKey {
  std::string key;  // as in the short form of a subject, and "backend", "model"
  std::vector<std::string> values;
};
// A key comes once, and each of its values once. "1..4" stands for 1, 2, 3 and 4.
[[nodiscard]] Result<std::vector<TunedKey>> tuned_keys(std::span<const std::string> texts);

// What dtype=int8 stands for: weights of 8 bits are a model of its own, or made by options when it is loaded.
struct Int8Form {
  std::string model{};
  Pairs options{};
  std::string refusal{};  // why there is none; empty: there is
};

// What can be set for a back end: the keys of its options, and their values as it lists them ("none|basic|all", "N").
struct TunableBackend {
  std::string name;
  Pairs options{};
  std::map<std::string, Int8Form> int8{};  // of each model
};

// dtype=int8 among the values?
[[nodiscard]] bool wants_int8(std::span<const TunedKey> keys);

struct TuningSpace {
  std::vector<SubjectDraft> settings{};  // no two are the same; the first has the first value of each key
  std::uint64_t all = 0;                 // that there are; more than `settings`: those were drawn
  Pairs left_out{};                      // settings that cannot be, and why
};

// `base` says the model, and what is the same for all. An option counts for the back ends that have it. Of more than
// kMostSettings as many are drawn, by `seed`, that differ in as many keys as can be from each other. Subjects whose
// inputs have the same shapes are in one group.
[[nodiscard]] Result<TuningSpace> combinations(const SubjectDraft& base, const std::vector<TunedKey>& keys,
                                               std::span<const TunableBackend> backends, std::uint64_t seed);

// Each back end as it is, then with one thing changed: threads (1, 2, 4, … fewer than `processors`), or an option that
// has a closed list of values.
[[nodiscard]] TuningSpace single_changes(const SubjectDraft& base, std::span<const TunableBackend> backends,
                                         int processors);

// The values of an option that has a closed list of them; empty: it takes numbers, or anything.
[[nodiscard]] std::vector<std::string> closed_list(const std::string& values);

}  // namespace infermeter
