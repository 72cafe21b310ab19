// Most events of a stream differ from the one before in the text of their piece alone, and need no parsing then.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace infermeter {

class EventForm {
 public:
  // `event` is JSON, with `piece` as the whole of one of its strings.
  void learn(std::string_view event, std::string_view piece);
  void forget() { begin_.clear(); }
  // The piece of an event that is otherwise the same, down to the byte; nullopt: it has to be parsed.
  [[nodiscard]] std::optional<std::string_view> piece_in(std::string_view event) const;

 private:
  std::string begin_, end_;  // of an event: up to its piece and from there on, quotes included; begin_ empty: unknown
};

}  // namespace infermeter
