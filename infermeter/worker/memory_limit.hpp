// The memory that a worker may have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infermeter {

// What was asked for; 0: 80 % of what is available now.
[[nodiscard]] std::uint64_t memory_limit_in_force(std::uint64_t asked_bytes);

// What the inputs of a model may take, whoever made them: infermeter keeps those of earlier subjects beside them, and
// hands a copy to the worker.
[[nodiscard]] std::uint64_t most_bytes_of_data(std::uint64_t asked_bytes);

// The sentence on a worker that was ended for it. `doing`: "while it loaded the model".
[[nodiscard]] std::string over_the_limit(std::uint64_t limit_bytes, std::uint64_t bytes, std::string_view doing = {});

}  // namespace infermeter
