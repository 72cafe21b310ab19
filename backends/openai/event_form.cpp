#include "event_form.hpp"

#include <algorithm>

namespace infermeter {
namespace {

// ASCII that means itself between the quotes of a JSON string.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return byte >= ' ' && byte < 0x7F && byte != '"' && byte != '\\'; });
}

}  // namespace

// Without a backslash, strings are written as they are: what is there only once, in quotes, is the piece.
void EventForm::learn(std::string_view event, std::string_view piece) {
  forget();
  if (piece.empty() || !is_plain(piece) || event.find('\\') != std::string_view::npos) return;
  const std::string literal = '"' + std::string(piece) + '"';
  const std::size_t at = event.find(literal);
  if (at == std::string_view::npos || event.find(literal, at + 1) != std::string_view::npos) return;
  begin_ = event.substr(0, at + 1);
  end_ = event.substr(at + literal.size() - 1);
}

std::optional<std::string_view> EventForm::piece_in(std::string_view event) const {
  const bool is_alike = !begin_.empty() && event.size() > begin_.size() + end_.size() && event.starts_with(begin_) &&
                        event.ends_with(end_);
  if (!is_alike) return std::nullopt;
  const std::string_view piece = event.substr(begin_.size(), event.size() - begin_.size() - end_.size());
  return is_plain(piece) ? std::optional(piece) : std::nullopt;
}

}  // namespace infermeter
