// The store's statements, which are SQLite's, in PostgreSQL's words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infermeter {

// A statement of ours: ?1 becomes $1; digest(…) NULL, as a server guards its own pages; temp.x pg_temp.x.
[[nodiscard]] std::string in_postgres(std::string_view sql);

// A step of the schema: types by their names there, texts compared by their bytes whatever the database's language is,
// and `rowid`, the order in which rows came, a column.
[[nodiscard]] std::string schema_in_postgres(std::string_view step);

// What a server has beyond a file: who wrote a run (`written_by`), and that nobody else changes it or what belongs to
// it (row-level security; the owner of the schema is free of it). Everybody who may read reads all. And an index of
// `rowid`. For what a schema of this version lacks; 0: of an empty one.
[[nodiscard]] std::string server_additions(std::int64_t version);

}  // namespace infermeter
