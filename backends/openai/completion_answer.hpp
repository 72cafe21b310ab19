// What a server answers: in one piece, or as a stream of pieces whose moments count.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "event_form.hpp"
#include "http/http.hpp"
#include "settings.hpp"
#include "sse_reader.hpp"

namespace infermeter {

struct CompletionAnswer {
  std::string text{};                                   // as the server gave it; UTF-8 if that was
  std::vector<std::int64_t> moments_ns{};               // of pieces with content: CLOCK_MONOTONIC when they were read
  std::int64_t output_tokens = -1, prompt_tokens = -1;  // as the server counts them; -1: it does not say
  std::string finish_reason{};
};

// Throws Failure(IMB_BAD_ANSWER): it is not what the protocol says.
[[nodiscard]] CompletionAnswer answer_from(std::string_view body, Api api);

// Takes a stream while it comes.
class StreamedAnswer final : public BodySink {
 public:
  explicit StreamedAnswer(Api api) : api_(api) {}

  void begin();
  void take(std::string_view bytes, std::int64_t moment_ns) override;
  // Throws Failure(IMB_BAD_ANSWER): it is no stream, or ended before the answer did.
  void end();
  [[nodiscard]] const CompletionAnswer& answer() const { return answer_; }

 private:
  void take_event(std::string_view data);
  void add(std::string_view piece);

  Api api_;
  SseReader reader_;
  EventForm form_;  // of the last event that was parsed
  CompletionAnswer answer_;
  std::string begin_;           // of what came, for messages
  std::int64_t moment_ns_ = 0;  // of the last bytes
  bool is_done_ = false, has_events_ = false;
};

}  // namespace infermeter
