#include "infermeter/store/postgres_sql.hpp"

#include <cstddef>
#include <utility>

namespace infermeter {
namespace {

void replace_words(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

// No statement of ours has a question mark, or a parenthesis within digest(), that means something else.
std::string in_postgres(std::string_view sql) {
  constexpr std::string_view digest = "digest(";
  std::string text;
  text.reserve(sql.size());
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (sql.substr(at).starts_with(digest)) {
      text += "NULL";
      at = sql.find(')', at);
    } else {
      text += sql[at] == '?' ? '$' : sql[at];
    }
  }
  replace_words(text, "temp.", "pg_temp.");
  return text;
}

std::string schema_in_postgres(std::string_view step) {
  std::string text(step);
  for (const auto& [from, to] : {std::pair(" INTEGER", " BIGINT"),
                                 {" REAL", " DOUBLE PRECISION"},
                                 {" BLOB", " BYTEA"},
                                 {" TEXT", " TEXT COLLATE \"C\""},
                                 {") STRICT", ")"},
                                 {" (\n  ", " (\n  rowid BIGINT GENERATED ALWAYS AS IDENTITY,\n  "}}) {
    replace_words(text, from, to);
  }
  return text;
}

}  // namespace infermeter
