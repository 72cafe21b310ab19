// The operators that the test instrument reports: their times are what its options say, to the nanosecond.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

struct ScriptedOperator {
  std::string kind, name;
  std::int64_t duration_ns = 0;
  std::vector<std::string> origin_names{};
  std::string kernel{}, precision{}, layout{};
};

// What is left in the profile folder: events; means only; more events than are kept; the file without its end; one that
// cannot be; nothing.
enum class ProfileKind { events, means, flood, cut, hostile, none };

struct Script {
  std::vector<ScriptedOperator> operators;
  std::int64_t gap_ns = 0;  // before each of them, that no operator explains
  std::vector<std::pair<std::string, std::int64_t>> delays;
  ProfileKind profile = ProfileKind::events;

  // Of one inference.
  [[nodiscard]] double seconds() const;
};

// All throw std::invalid_argument.
[[nodiscard]] std::vector<ScriptedOperator> operators_from(std::string_view text);
[[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> delays_from(std::string_view text);
[[nodiscard]] ProfileKind profile_kind_from(std::string_view text);
// Adds the delays to their operators; there must be one of that name.
void apply_delays(Script& script);

// operators.json of so many iterations. Throws Failure.
void write_profile(const Script& script, std::uint64_t iterations, const std::string& folder);

}  // namespace infermeter
