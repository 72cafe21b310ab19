// What a server answers, as the back ends kserve and openai read it. Its parts are in a namespace of their own here
// (CMakeLists.txt): back ends know nothing of the library, and have names of its own for other things.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/http1_answer.hpp"
#include "http/json_text.hpp"
#include "kserve/grpc_answer.hpp"
#include "kserve/grpc_messages.hpp"
#include "kserve/infer_answer.hpp"
#include "kserve/metadata.hpp"
#include "openai/completion_answer.hpp"
#include "openai/model_list.hpp"
#include "openai/prompt_file.hpp"
#include "sdk/abi_edge.hpp"
#include "tests/fuzz/server_answer.hpp"

namespace {

template <class Read>
void is_taken_or_refused(Read&& read) {
  try {
    read();
  } catch (const infermeter::Failure& failure) {
    if (failure.message.empty()) std::abort();
  }
}

}  // namespace

// The first line is the size of the JSON at the body's beginning, or empty.
void read_server_answer(std::string_view text) {
  const std::size_t line = text.find('\n');
  const std::string_view body = line == std::string_view::npos ? text : text.substr(line + 1);
  const std::size_t json_size = std::strtoul(std::string(text.substr(0, 20)).c_str(), nullptr, 10);
  is_taken_or_refused([&] { static_cast<void>(infermeter::outputs_from(body, std::nullopt)); });
  is_taken_or_refused([&] { static_cast<void>(infermeter::outputs_from(body, json_size)); });
  is_taken_or_refused([&] { static_cast<void>(infermeter::model_metadata_from(body)); });
  is_taken_or_refused([&] { static_cast<void>(infermeter::server_metadata_from(body)); });
  for (const char byte : infermeter::error_text(body).substr(0, 1000))
    if (static_cast<unsigned char>(byte) < ' ') std::abort();
}

// A body of gRPC: what is in its frame, or the whole of it, as each of the messages.
void read_grpc_answer(std::string_view body) {
  std::string_view framed;
  is_taken_or_refused([&] { framed = infermeter::message_in(body); });
  for (const std::string_view message : {body, framed}) {
    std::string version;
    is_taken_or_refused([&] { static_cast<void>(infermeter::outputs_in(message, &version)); });
    is_taken_or_refused([&] { static_cast<void>(infermeter::model_metadata_in(message)); });
    is_taken_or_refused([&] { static_cast<void>(infermeter::server_metadata_in(message)); });
  }
}

// Each event of a stream says what it says where it stands alone.
void check_events(std::string_view text) {
  infermeter::StreamedAnswer stream(infermeter::Api::chat), alone(infermeter::Api::chat);
  stream.begin();
  is_taken_or_refused([&] { stream.take(text, 1); });
  std::string said;
  std::size_t pieces = 0;
  is_taken_or_refused([&] {
    bool is_done = false;
    infermeter::SseReader reader;
    reader.feed(text, [&](std::string_view data) {
      is_done |= data == "[DONE]";
      if (is_done) return;
      std::string lines = "data: " + std::string(data) + "\n\n";
      for (std::size_t at = lines.find('\n'); at + 2 < lines.size(); at = lines.find('\n', at + 1))
        lines.insert(at + 1, "data: ");
      alone.begin();
      alone.take(lines, 1);
      said += alone.answer().text;
      pieces += alone.answer().moments_ns.size();
    });
  });
  if (stream.answer().text != said || stream.answer().moments_ns.size() != pieces) std::abort();
}

// The first byte says how long a read is. However a stream is cut, it is the same answer, or none.
void read_server_stream(std::string_view text) {
  using infermeter::Api;
  if (text.empty()) return;
  const std::size_t length = static_cast<unsigned char>(text.front()) + std::size_t{1};
  text.remove_prefix(1);
  const auto answer_to = [&](std::size_t read_length) {
    std::string all;
    is_taken_or_refused([&] {
      infermeter::StreamedAnswer stream(Api::chat);
      stream.begin();
      for (std::size_t at = 0; at < text.size(); at += read_length) stream.take(text.substr(at, read_length), 1);
      stream.end();
      all = stream.answer().text + std::to_string(stream.answer().moments_ns.size());
    });
    return all;
  };
  if (answer_to(length) != answer_to(text.size() + 1)) std::abort();
  check_events(text);
  for (const Api api : {Api::chat, Api::completions})
    is_taken_or_refused([&] { static_cast<void>(infermeter::answer_from(text, api)); });
  is_taken_or_refused([&] { static_cast<void>(infermeter::owner_in(text, "model")); });
}

// The first byte says how long a read is, of an answer as it is on the wire. However it is cut, it is the same answer,
// or none.
void read_http_answer(std::string_view text) {
  using infermeter::Http1Answer;
  if (text.empty()) return;
  const std::size_t length = static_cast<unsigned char>(text.front()) + std::size_t{1};
  text.remove_prefix(1);
  struct Kept final : Http1Answer::Body {
    bool take(std::string_view bytes) override {
      text += bytes;
      return text.size() < 100'000;
    }
    std::string text;
  };
  const auto answer_to = [&](std::size_t read_length) {
    Kept body;
    Http1Answer answer(body);
    answer.begin(65536, 1 << 20);
    Http1Answer::State state = Http1Answer::State::needs_more;
    std::string_view rest;
    std::size_t read = 0;
    while (state == Http1Answer::State::needs_more && read < text.size()) {
      const std::size_t more = std::min(read_length, text.size() - read);
      rest = text.substr(read - rest.size(), rest.size() + more);
      read += more;
      state = answer.parse(rest);
    }
    if (state == Http1Answer::State::needs_more) state = answer.end();
    if (state == Http1Answer::State::broken && answer.words().empty()) std::abort();
    if (state != Http1Answer::State::done) return std::string();
    return body.text + '\n' + std::to_string(answer.status()) + answer.header("a").value_or("-") +
           answer.trailer("b").value_or("-") + (answer.keeps_connection() ? "kept" : "closed");
  };
  if (answer_to(length) != answer_to(text.size() + 1)) std::abort();
}

void read_prompts(std::string_view text) {
  for (const bool is_json : {false, true})
    is_taken_or_refused([&] {
      if (infermeter::prompts_in(text, is_json).prompts.empty()) std::abort();
    });
}
