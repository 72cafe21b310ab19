#include "infermeter/store/postgres_sql.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "infermeter/store/schema.hpp"

namespace infermeter {
namespace {

void replace_words(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

constexpr std::int64_t with_marks = 9, with_lists = 10;  // versions of the schema that brought tags and notes, indexes

// Labels that an older infermeter kept whole, so that the index can hold them.
constexpr const char* figures_listed = "CREATE INDEX figures_listed";
constexpr const char* labels_cut =
    "UPDATE figures SET label = left(label, 250) WHERE length(label) > 250;\nCREATE INDEX figures_listed";

// An index here holds short texts only; and a server's rows of runs lie together, apart from the trials.
constexpr const char* listed_in_sqlite =
    " (finished, labels, created_at, id, trials_planned, part_of, trials_done, listing_checksum)";

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
                                 {" (\n  ", " (\n  rowid BIGINT GENERATED ALWAYS AS IDENTITY,\n  "},
                                 {listed_in_sqlite, " USING hash (labels)"},
                                 {figures_listed, labels_cut}}) {
    replace_words(text, from, to);
  }
  return text;
}

std::string server_additions(std::int64_t version) {
  constexpr std::string_view own_run =
      "EXISTS (SELECT FROM infermeter.runs AS begun WHERE begun.id = run AND begun.written_by = current_user)";
  std::string text;
  if (version == 0) text = "ALTER TABLE runs ADD COLUMN written_by NAME NOT NULL DEFAULT current_user;\n";
  for (const SealedTable* table : sealed_tables()) {
    const std::int64_t made_in = table == &tags_table || table == &notes_table ? with_marks : 1;
    if (table == &baselines_table || version >= made_in) continue;
    const std::string_view own = table == &runs_table ? "written_by = current_user" : own_run;
    text += fmt::format(
        "ALTER TABLE {0} ENABLE ROW LEVEL SECURITY;\n"
        "CREATE POLICY reading ON {0} FOR SELECT USING (true);\n"
        "CREATE POLICY adding ON {0} FOR INSERT WITH CHECK ({1});\n"
        "CREATE POLICY changing ON {0} FOR UPDATE USING ({1}) WITH CHECK ({1});\n"
        "CREATE POLICY removing ON {0} FOR DELETE USING ({1});\n",
        table->name, own);
  }
  if (version < with_lists)
    text += "CREATE INDEX runs_in_order ON runs (rowid);\n";  // the primary key of a file's table
  return text;
}

}  // namespace infermeter
