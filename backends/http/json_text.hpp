// JSON from a server: of bounded depth, and quoted so that nothing in it can act on a terminal.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace infermeter {

inline constexpr int deepest_json = 32;

// Throws Failure(IMB_BAD_ANSWER): `what` ("the server's answer") is no JSON, or deeper than that.
[[nodiscard]] nlohmann::json parse_bounded(std::string_view text, const std::string& what);

// "text" in quotes, ASCII, control characters as \uXXXX; cut after `most` bytes.
[[nodiscard]] std::string shown(std::string_view text, std::size_t most = 300);

// The error that an answer reports itself: {"error": "…"}, OpenAI's {"error": {"message": "…"}}, FastAPI's
// {"detail": "…"}, or how its body begins.
[[nodiscard]] std::string error_text(std::string_view body);

}  // namespace infermeter
