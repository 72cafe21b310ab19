#include "infermeter/plan/expectation_draft.hpp"

#include "infermeter/plan/toml_text.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

std::int64_t characters(std::string_view text) {
  std::int64_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(next_character(text).size);
  return count;
}

}  // namespace

Error PlacedText::error(std::size_t offset, std::string_view message) const {
  const std::int64_t at = column + (verbatim ? characters(std::string_view(text).substr(0, offset)) : 0);
  return error_at(file, {static_cast<toml::source_index>(line), static_cast<toml::source_index>(at)}, message);
}

}  // namespace infermeter
