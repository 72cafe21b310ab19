#include "http/json_text.hpp"

#include "sdk/abi_edge.hpp"

namespace infermeter {

namespace {

// Brackets around brackets, outside of texts. Counted before parsing, which is a third slower with a look at each
// value.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool is_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    if (byte == '"') is_text = !is_text;
    if (is_text && byte == '\\') ++i;
    if (is_text) continue;
    if ((byte == '[' || byte == '{') && ++depth > deepest_json) return true;
    if (byte == ']' || byte == '}') --depth;
  }
  return false;
}

}  // namespace

nlohmann::json parse_bounded(std::string_view text, const std::string& what) {
  using json = nlohmann::json;
  if (is_too_deep(text)) fail(IMB_BAD_ANSWER, what + " is nested too deeply");
  try {
    return json::parse(text);
  } catch (const json::exception&) {
    fail(IMB_BAD_ANSWER, what + " is not the JSON that it should be; it begins with " + shown(text, 60));
  }
}

std::string shown(std::string_view text, std::size_t most) {
  const std::string begin(text.substr(0, utf8_prefix(text, most)));
  const std::string quoted = nlohmann::json(begin).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return begin.size() < text.size() ? quoted + "…" : quoted;
}

namespace {

// Of {"error": "…"}, {"error": {"message": "…"}}, {"detail": "…"} or {"message": "…"}; nullptr: it is none of them.
const std::string* error_in(const nlohmann::json& answer) {
  if (!answer.is_object()) return nullptr;
  for (const char* const key : {"error", "detail", "message"}) {
    const auto found = answer.find(key);
    if (found == answer.end()) continue;
    if (found->is_string()) return &found->get_ref<const std::string&>();
    if (const std::string* const within = error_in(*found)) return within;
  }
  return nullptr;
}

}  // namespace

std::string error_text(std::string_view body) {
  if (body.empty()) return "it said nothing else";
  constexpr std::size_t most_read = 64 * 1024;
  if (body.size() <= most_read) {
    try {
      const nlohmann::json answer = parse_bounded(body, "the error");
      if (const std::string* const error = error_in(answer)) return "it said " + shown(*error);
    } catch (const Failure&) {  // no JSON: it is shown as it is
    }
  }
  return "it said " + shown(body, 200);
}

}  // namespace infermeter
