#include "completion_answer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "http/json_text.hpp"
#include "http/queue.hpp"

namespace infermeter {
namespace {

using nlohmann::json;

constexpr std::int64_t most_counted = std::int64_t{1} << 40;  // tokens
const std::string the_answer = "the server's answer";

bool is_high(char byte) { return static_cast<unsigned char>(byte) >= 0x80; }

// Some servers cut a letter's bytes into two events, and neither is UTF-8 then, which JSON has to be. Each byte beyond
// ASCII gets a letter of its own, U+10FF80 to U+10FFFF, and `own_bytes` makes bytes of them again.
std::string with_stand_ins(std::string_view event) {
  std::string text;
  for (const char byte : event) {
    if (!is_high(byte)) {
      text += byte;
      continue;
    }
    const auto low = static_cast<unsigned char>(byte);
    text += "\xF4\x8F";
    text += low < 0xC0 ? '\xBE' : '\xBF';
    text += static_cast<char>(0x80 | (low & 0x3F));
  }
  return text;
}

std::string own_bytes(std::string_view text) {
  constexpr std::string_view stand_in = "\xF4\x8F";
  std::string bytes;
  while (!text.empty()) {
    const bool is_one = text.size() >= 4 && text.starts_with(stand_in) && (text[2] == '\xBE' || text[2] == '\xBF');
    if (is_one) {
      bytes += static_cast<char>((text[2] == '\xBE' ? 0x80 : 0xC0) | (text[3] & 0x3F));
    } else {
      bytes += text.front();
    }
    text.remove_prefix(is_one ? 4 : 1);
  }
  return bytes;
}

struct EventJson {
  json value;
  bool has_stand_ins = false;
};

EventJson parse_event(std::string_view event) {
  try {
    return {parse_bounded(event, the_answer)};
  } catch (const Failure&) {
    if (std::ranges::none_of(event, is_high)) throw;
  }
  return {parse_bounded(with_stand_ins(event), the_answer), true};
}

[[noreturn]] void refuse_completion(const std::string& why) {
  fail(IMB_BAD_ANSWER, the_answer + " cannot be used: " + why);
}

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

void refuse_error(const json& value, std::string_view text) {
  const json* const kind = member(value, "object");
  if (member(value, "error") != nullptr || (kind != nullptr && *kind == "error"))
    fail(IMB_BAD_ANSWER, "the server broke its answer off; " + error_text(text));
}

// The choice asked for; nullptr: there is none in this piece.
const json* first_choice(const json& value) {
  const json* const choices = member(value, "choices");
  if (choices == nullptr) return nullptr;
  if (!choices->is_array()) refuse_completion("its choices are no list");
  return choices->empty() ? nullptr : &choices->front();
}

void take_usage(const json& value, CompletionAnswer& answer) {
  const json* const usage = member(value, "usage");
  if (usage == nullptr) return;
  const auto count = [&](const char* key, std::int64_t& tokens) {
    const json* const reported = member(*usage, key);
    if (reported == nullptr) return;
    if (!reported->is_number_unsigned() || reported->get<std::uint64_t>() > std::uint64_t{most_counted})
      refuse_completion(std::string("its ") + key + " is not a number of tokens");
    tokens = reported->get<std::int64_t>();
  };
  count("completion_tokens", answer.output_tokens);
  count("prompt_tokens", answer.prompt_tokens);
}

std::string_view text_member(const json& object, const char* key) {
  const json* const text = member(object, key);
  if (text == nullptr) return {};
  if (!text->is_string()) refuse_completion(std::string("its ") + key + " is not a text");
  return text->get_ref<const std::string&>();
}

struct Piece {
  std::string text{};
  bool is_one_string = true;  // of the JSON, and whole
};

// The text of a message or of a piece of one: what it says, and what it thinks before.
Piece content_of(const json& message) {
  std::string_view thought = text_member(message, "reasoning_content");
  if (thought.empty()) thought = text_member(message, "reasoning");
  const std::string_view said = text_member(message, "content");
  Piece piece{.text = std::string(thought).append(said), .is_one_string = thought.empty() || said.empty()};
  const json* const calls = member(message, "tool_calls");
  if (calls != nullptr && calls->is_array() && !calls->empty())
    piece = {.text = piece.text + calls->dump(), .is_one_string = false};
  return piece;
}

Piece piece_of(const json& choice, Api api, const char* message) {
  if (api == Api::completions) return {.text = std::string(text_member(choice, "text"))};
  const json* const part = member(choice, message);
  return part == nullptr ? Piece() : content_of(*part);
}

void take_finish(const json& choice, CompletionAnswer& answer) {
  const std::string_view reason = text_member(choice, "finish_reason");
  constexpr std::size_t longest = 80;
  if (!reason.empty()) answer.finish_reason = reason.substr(0, longest);
}

}  // namespace

CompletionAnswer answer_from(std::string_view body, Api api) {
  const json value = parse_bounded(body, the_answer);
  refuse_error(value, body);
  const json* const choice = first_choice(value);
  if (choice == nullptr) refuse_completion("it has no choices");
  CompletionAnswer answer;
  answer.text = piece_of(*choice, api, "message").text;
  take_finish(*choice, answer);
  take_usage(value, answer);
  return answer;
}

void StreamedAnswer::begin() {
  reader_ = {};
  form_.forget();
  answer_.text.clear();
  answer_.moments_ns.clear();
  answer_.output_tokens = answer_.prompt_tokens = -1;
  answer_.finish_reason.clear();
  begin_.clear();
  moment_ns_ = 0;
  is_done_ = has_events_ = false;
}

void StreamedAnswer::take(std::string_view bytes, std::int64_t moment_ns) {
  moment_ns_ = moment_ns;
  constexpr std::size_t shown_bytes = 60;
  if (begin_.size() < shown_bytes) begin_ += bytes.substr(0, shown_bytes);
  reader_.feed(bytes, [this](std::string_view data) { take_event(data); });
}

void StreamedAnswer::take_event(std::string_view data) {
  has_events_ = true;
  if (is_done_) return;
  if (data == "[DONE]") {
    is_done_ = true;
    return;
  }
  if (const auto piece = form_.piece_in(data)) return add(*piece);
  const auto [value, has_stand_ins] = parse_event(data);
  refuse_error(value, data);
  take_usage(value, answer_);
  const json* const choice = first_choice(value);
  if (choice == nullptr) return;
  const Piece piece = piece_of(*choice, api_, "delta");
  take_finish(*choice, answer_);
  if (piece.text.empty()) return;
  add(has_stand_ins ? own_bytes(piece.text) : piece.text);
  if (piece.is_one_string) form_.learn(data, piece.text);
}

void StreamedAnswer::add(std::string_view piece) {
  answer_.text += piece;
  answer_.moments_ns.push_back(moment_ns_);
}

void StreamedAnswer::end() {
  reader_.end([this](std::string_view data) { take_event(data); });
  if (!has_events_)
    fail(IMB_BAD_ANSWER, the_answer + " is not a stream of events; it begins with " + shown(begin_, 60) +
                             "; stream=false asks for it in one piece");
  if (!is_done_ && answer_.finish_reason.empty())
    fail(IMB_BAD_ANSWER,
         "the server's stream ended before its answer did: neither a finish_reason nor [DONE] came, after " +
             std::to_string(answer_.moments_ns.size()) + " pieces");
}

}  // namespace infermeter
