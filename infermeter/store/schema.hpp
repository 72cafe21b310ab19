// The store's tables and their versions (docs/store.md).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

class SqliteDatabase;

// "infm", kept in the file's header: tells our files from other programs' SQLite databases.
inline constexpr int store_application_id = 0x696e666d;

// The version that this program reads and writes: the number of steps in schema.cpp.
[[nodiscard]] int store_schema_version();

// Step i, as SQLite takes it, turns version i into version i + 1; of PostgreSQL, postgres_sql.hpp translates it.
[[nodiscard]] std::span<const char* const> store_schema_steps();

enum class StoreState { empty, current, older };

// Of a file. Looks without writing. Another program's database, or a newer infermeter's, is an error.
[[nodiscard]] Result<StoreState> examine_store(const SqliteDatabase& database, const std::filesystem::path& file);

// Makes an empty or older file into a current one, in one transaction; others may be trying the same at the same time.
[[nodiscard]] Result<Done> upgrade_store(const SqliteDatabase& database, const std::filesystem::path& file);

// A table whose rows carry a checksum, digest(columns…), in their last column; NULL: of a row that an infermeter wrote
// which kept none, and of PostgreSQL, which guards its pages itself.
struct SealedTable {
  std::string_view name;
  std::span<const std::string_view> columns;
  std::string_view checksum = "checksum";  // its column
};
extern const SealedTable runs_table, trials_table, side_trials_table, outputs_table, accuracy_table, profiles_table,
    stacks_table, traces_table, peaks_table, output_blocks_table, figures_table, baselines_table, machine_noise_table,
    tags_table, notes_table;
[[nodiscard]] std::span<const SealedTable* const> sealed_tables();  // all of them
// What a list of runs shows of `runs`: with a checksum of its own, so that a list needs nothing else of a row.
extern const SealedTable listed_columns;

// "INSERT INTO name (columns…, checksum) VALUES (?1, …, digest(?1, …))"; `name`: of a table made like it, if given.
[[nodiscard]] std::string insert_into(const SealedTable& table, std::string_view name = {});
// "… DO UPDATE SET" all of them, behind an insert with ON CONFLICT.
[[nodiscard]] std::string replace_all(const SealedTable& table);
// A condition: the row is not as it was written.
[[nodiscard]] std::string is_changed(const SealedTable& table);
// An assignment, for rows that are updated.
[[nodiscard]] std::string seal(const SealedTable& table);
// How many records belong to the run `id`: an expression.
[[nodiscard]] std::string count_of_records(std::string_view id);

}  // namespace infermeter
