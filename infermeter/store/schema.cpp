#include "infermeter/store/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "infermeter/store/sqlite.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// Step i turns version i into version i + 1. Steps are only ever added at the end.
constexpr std::array steps = {
    R"sql(
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  created_at REAL NOT NULL,
  finished INTEGER NOT NULL,
  trials_planned INTEGER NOT NULL,
  labels TEXT NOT NULL,
  plan TEXT NOT NULL,
  environment TEXT NOT NULL,
  models TEXT NOT NULL,
  diagnostics TEXT NOT NULL
) STRICT;
CREATE TABLE trials (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  subject INTEGER NOT NULL,
  process INTEGER NOT NULL,
  "end" TEXT NOT NULL,
  started_at REAL NOT NULL,
  iterations INTEGER NOT NULL,
  samples TEXT NOT NULL,
  begin_s BLOB NOT NULL,
  end_s BLOB NOT NULL,
  warmup_begin_s BLOB NOT NULL,
  warmup_end_s BLOB NOT NULL,
  PRIMARY KEY (run, position)
) STRICT;
CREATE TABLE outputs (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  reference INTEGER NOT NULL,
  comparison TEXT NOT NULL,
  PRIMARY KEY (run, subject)
) STRICT;
CREATE TABLE output_blocks (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  block BLOB NOT NULL,
  PRIMARY KEY (run, subject)
) STRICT;
CREATE INDEX runs_by_time ON runs (created_at);
)sql",
    R"sql(
ALTER TABLE runs ADD COLUMN noise TEXT NOT NULL DEFAULT 'null';
ALTER TABLE runs ADD COLUMN has_figures INTEGER NOT NULL DEFAULT 0;
CREATE TABLE side_trials (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  subject INTEGER NOT NULL,
  process INTEGER NOT NULL,
  "end" TEXT NOT NULL,
  started_at REAL NOT NULL,
  iterations INTEGER NOT NULL,
  samples TEXT NOT NULL,
  begin_s BLOB NOT NULL,
  end_s BLOB NOT NULL,
  warmup_begin_s BLOB NOT NULL,
  warmup_end_s BLOB NOT NULL,
  PRIMARY KEY (run, position)
) STRICT;
CREATE TABLE baselines (
  name TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  set_at REAL NOT NULL
) STRICT;
CREATE TABLE machine_noise (
  machine TEXT NOT NULL,
  measured_at REAL NOT NULL,
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  metric TEXT NOT NULL,
  pairs INTEGER NOT NULL,
  standard_deviation REAL NOT NULL,
  PRIMARY KEY (machine, run)
) STRICT;
CREATE TABLE figures (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  metric TEXT NOT NULL,
  series TEXT NOT NULL,
  machine TEXT NOT NULL,
  created_at REAL NOT NULL,
  label TEXT NOT NULL,
  value REAL NOT NULL,
  low REAL,
  high REAL,
  processes INTEGER NOT NULL,
  runtime_version TEXT NOT NULL,
  model_sha256 TEXT NOT NULL,
  git_commit TEXT NOT NULL,
  infermeter_version TEXT NOT NULL,
  PRIMARY KEY (run, subject, metric)
) STRICT;
CREATE INDEX figures_by_series ON figures (metric, series, machine, created_at);
CREATE INDEX runs_without_figures ON runs (created_at) WHERE finished = 1 AND has_figures = 0;
)sql",
    R"sql(
CREATE TABLE accuracy (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  subject INTEGER NOT NULL,
  accuracy TEXT NOT NULL,
  PRIMARY KEY (run, subject)
) STRICT;
)sql",
    R"sql(
CREATE TABLE profiles (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  profile TEXT NOT NULL,
  PRIMARY KEY (run, position)
) STRICT;
CREATE TABLE stacks (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  method TEXT NOT NULL,
  stacks TEXT NOT NULL,
  PRIMARY KEY (run, position, method)
) STRICT;
CREATE TABLE peaks (
  run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  peaks TEXT NOT NULL
) STRICT;
)sql",
    R"sql(
ALTER TABLE runs ADD COLUMN part_of TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN records INTEGER;
ALTER TABLE runs ADD COLUMN checksum INTEGER;
ALTER TABLE trials ADD COLUMN checksum INTEGER;
ALTER TABLE side_trials ADD COLUMN checksum INTEGER;
ALTER TABLE outputs ADD COLUMN checksum INTEGER;
ALTER TABLE accuracy ADD COLUMN checksum INTEGER;
ALTER TABLE profiles ADD COLUMN checksum INTEGER;
ALTER TABLE stacks ADD COLUMN checksum INTEGER;
ALTER TABLE peaks ADD COLUMN checksum INTEGER;
ALTER TABLE output_blocks ADD COLUMN checksum INTEGER;
ALTER TABLE figures ADD COLUMN checksum INTEGER;
ALTER TABLE baselines ADD COLUMN checksum INTEGER;
ALTER TABLE machine_noise ADD COLUMN checksum INTEGER;
)sql",
    // Percentiles of the tail are of all iterations from here on: figures are made again from the samples.
    R"sql(
UPDATE runs SET has_figures = 0;
)sql",
    // How many processes of a figure were disturbed: made again likewise.
    R"sql(
ALTER TABLE figures ADD COLUMN disturbed INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET has_figures = 0;
)sql",
    // What a runtime's own profiler wrote, as it is.
    R"sql(
CREATE TABLE traces (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  trace BLOB NOT NULL,
  checksum INTEGER,
  PRIMARY KEY (run, position)
) STRICT;
)sql",
    // What people say about a run; and how many of its trials are done, as nobody wants to count millions for a list.
    R"sql(
CREATE TABLE run_tags (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  checksum INTEGER,
  PRIMARY KEY (run, tag)
) STRICT;
CREATE TABLE run_notes (
  run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  note TEXT NOT NULL,
  checksum INTEGER
) STRICT;
ALTER TABLE runs ADD COLUMN trials_done INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET trials_done = (SELECT count(*) FROM trials WHERE run = id AND "end" <> 'interrupted');
)sql",
    // Lists of runs and of series are answered by these indexes alone: rows lie far apart among millions of trials.
    R"sql(
ALTER TABLE runs ADD COLUMN listing_checksum INTEGER;
CREATE INDEX runs_listed ON runs (finished, labels, created_at, id, trials_planned, part_of, trials_done, listing_checksum);
DROP INDEX figures_by_series;
CREATE INDEX figures_listed ON figures (metric, machine, series, created_at, run, label);
)sql",
};

template <std::size_t N>
using Columns = std::array<std::string_view, N>;

constexpr Columns<12> runs_columns = {"id",          "created_at", "finished",    "trials_planned",
                                      "labels",      "plan",       "environment", "models",
                                      "diagnostics", "noise",      "part_of",     "records"};
constexpr Columns<7> listing_columns = {"id",     "created_at", "finished",   "trials_planned",
                                        "labels", "part_of",    "trials_done"};
constexpr Columns<12> trial_columns = {"run",     "position",   "subject",        "process",
                                       "\"end\"", "started_at", "iterations",     "samples",
                                       "begin_s", "end_s",      "warmup_begin_s", "warmup_end_s"};
constexpr Columns<4> outputs_columns = {"run", "subject", "reference", "comparison"};
constexpr Columns<3> accuracy_columns = {"run", "subject", "accuracy"};
constexpr Columns<3> profiles_columns = {"run", "position", "profile"};
constexpr Columns<4> stacks_columns = {"run", "position", "method", "stacks"};
constexpr Columns<3> traces_columns = {"run", "position", "trace"};
constexpr Columns<2> peaks_columns = {"run", "peaks"};
constexpr Columns<3> output_blocks_columns = {"run", "subject", "block"};
constexpr Columns<16> figures_columns = {
    "run",        "subject",         "metric",       "series",     "machine",
    "created_at", "label",           "value",        "low",        "high",
    "processes",  "runtime_version", "model_sha256", "git_commit", "infermeter_version",
    "disturbed"};
constexpr Columns<3> baselines_columns = {"name", "run", "set_at"};
constexpr Columns<2> tags_columns = {"run", "tag"};
constexpr Columns<2> notes_columns = {"run", "note"};
constexpr Columns<7> noise_columns = {"machine", "run",   "measured_at",       "subject",
                                      "metric",  "pairs", "standard_deviation"};

}  // namespace

const SealedTable runs_table{"runs", runs_columns}, trials_table{"trials", trial_columns},
    side_trials_table{"side_trials", trial_columns}, outputs_table{"outputs", outputs_columns},
    accuracy_table{"accuracy", accuracy_columns}, profiles_table{"profiles", profiles_columns},
    stacks_table{"stacks", stacks_columns}, traces_table{"traces", traces_columns}, peaks_table{"peaks", peaks_columns},
    output_blocks_table{"output_blocks", output_blocks_columns}, figures_table{"figures", figures_columns},
    baselines_table{"baselines", baselines_columns}, machine_noise_table{"machine_noise", noise_columns},
    tags_table{"run_tags", tags_columns}, notes_table{"run_notes", notes_columns},
    listed_columns{"runs", listing_columns, "listing_checksum"};

std::span<const SealedTable* const> sealed_tables() {
  static constexpr std::array all = {&runs_table,          &trials_table,        &side_trials_table, &outputs_table,
                                     &accuracy_table,      &profiles_table,      &stacks_table,      &traces_table,
                                     &peaks_table,         &output_blocks_table, &figures_table,     &baselines_table,
                                     &machine_noise_table, &tags_table,          &notes_table};
  return all;
}

std::string insert_into(const SealedTable& table, std::string_view name) {
  std::vector<std::string> places;
  for (std::size_t i = 1; i <= table.columns.size(); ++i) places.push_back(fmt::format("?{}", i));
  const auto values = fmt::format("{}", fmt::join(places, ", "));
  return fmt::format("INSERT INTO {} ({}, checksum) VALUES ({}, digest({})) ", name.empty() ? table.name : name,
                     fmt::join(table.columns, ", "), values, values);
}

std::string replace_all(const SealedTable& table) {
  std::string text = "DO UPDATE SET checksum = excluded.checksum";
  for (const auto column : table.columns) text += fmt::format(", {0} = excluded.{0}", column);
  return text;
}

std::string is_changed(const SealedTable& table) {
  return fmt::format("({0} IS NOT NULL AND {0} <> digest({1}))", table.checksum, fmt::join(table.columns, ", "));
}

std::string seal(const SealedTable& table) {
  return fmt::format("{} = digest({})", table.checksum, fmt::join(table.columns, ", "));
}

std::string count_of_records(std::string_view id) {
  std::string text;
  for (const auto* table : {&trials_table, &side_trials_table, &outputs_table, &accuracy_table, &profiles_table,
                            &stacks_table, &traces_table, &peaks_table, &output_blocks_table}) {
    text += fmt::format("{}(SELECT count(*) FROM {} WHERE run = {})", text.empty() ? "" : " + ", table->name, id);
  }
  return text;
}

std::span<const char* const> store_schema_steps() { return steps; }

int store_schema_version() { return static_cast<int>(steps.size()); }

namespace {

// Kind, name, table and text of what is in a schema; spaces and quotation marks say nothing.
using SchemaObject = std::array<std::string, 4>;

Result<std::vector<SchemaObject>> schema_objects(const SqliteDatabase& database) {
  constexpr std::size_t most = 1000;
  INFERMETER_TRY(auto statement,
                 database.prepare("SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_master ORDER BY name"));
  std::vector<SchemaObject> objects;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row || objects.size() == most) return objects;
    SchemaObject object{statement.text(0), statement.text(1), statement.text(2), statement.text(3)};
    std::erase_if(object[3], [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '"'; });
    objects.push_back(std::move(object));
  }
}

Result<std::vector<SchemaObject>> expected_objects(std::int64_t version) {
  INFERMETER_TRY(const auto database, SqliteDatabase::in_memory());
  for (std::size_t step = 0; step < static_cast<std::size_t>(version); ++step)
    INFERMETER_TRY_DONE(database.execute(steps[step]));
  return schema_objects(database);
}

// A view, a trigger, an expression in an index or in a table of another make would be executed by our queries. Tables
// of others are never asked.
Result<Done> check_schema(const SqliteDatabase& database, std::int64_t version, const std::filesystem::path& file) {
  INFERMETER_TRY(const auto expected, expected_objects(version));
  INFERMETER_TRY(const auto objects, schema_objects(database));
  const auto refuse = [&](std::string_view what, std::string_view name) {
    return io_error(fmt::format(
        "the store {} is refused: its {} {} is not as infermeter makes it (--output-dir chooses another folder)",
        file.string(), what, in_quotes(name)));
  };
  const auto is_ours = [&](const std::string& table) {
    return std::ranges::any_of(expected, [&](const SchemaObject& one) { return one[0] == "table" && one[1] == table; });
  };
  for (const SchemaObject& object : objects) {
    if (std::ranges::find(expected, object) != expected.end()) continue;
    const bool is_foreign = (object[0] == "table" || object[0] == "index") && !is_ours(object[2]);
    if (!is_foreign) return refuse(object[0], object[1]);
  }
  for (const SchemaObject& wanted : expected)
    if (wanted[0] == "table" && std::ranges::find(objects, wanted) == objects.end()) return refuse("table", wanted[1]);
  return Done{};
}

}  // namespace

// Pragmas and sqlite_master alone: a name of the schema could be anything until it is checked.
Result<StoreState> examine_store(const SqliteDatabase& database, const std::filesystem::path& file) {
  // One moment: another process may be making the file just now.
  INFERMETER_TRY(const auto moment, Transaction::begin_reading(database));
  INFERMETER_TRY(const auto objects, database.integer("SELECT count(*) FROM sqlite_master"));
  INFERMETER_TRY(const auto application, database.integer("PRAGMA application_id"));
  INFERMETER_TRY(const auto version, database.integer("PRAGMA user_version"));
  if (application == 0 && version == 0 && objects == 0) return StoreState::empty;
  if (application != store_application_id) {
    return io_error(fmt::format(
        "{} is another program's SQLite database, not an infermeter store (--output-dir chooses another folder)",
        file.string()));
  }
  if (version > store_schema_version()) {
    return io_error(
        fmt::format("the store {} was written by a newer infermeter (its schema is {}, this one knows {}): "
                    "use that infermeter, or another folder (--output-dir)",
                    file.string(), version, store_schema_version()));
  }
  if (version < 1) {
    return io_error(fmt::format(
        "the store {} is refused: its schema has the version {}, which none has (--output-dir chooses another folder)",
        file.string(), version));
  }
  INFERMETER_TRY_DONE(check_schema(database, version, file));
  return version == store_schema_version() ? StoreState::current : StoreState::older;
}

Result<Done> upgrade_store(const SqliteDatabase& database, const std::filesystem::path& file) {
  INFERMETER_TRY(auto transaction, Transaction::begin(database));
  // Again, inside the lock: another process may have made it current in between.
  INFERMETER_TRY(const auto state, examine_store(database, file));
  if (state == StoreState::current) return transaction.commit();
  INFERMETER_TRY(const auto version, database.integer("PRAGMA user_version"));
  for (auto step = static_cast<std::size_t>(version); step < steps.size(); ++step) {
    INFERMETER_TRY_DONE(database.execute(steps[step]));
  }
  INFERMETER_TRY_DONE(database.execute(fmt::format("PRAGMA application_id = {}", store_application_id).c_str()));
  INFERMETER_TRY_DONE(database.execute(fmt::format("PRAGMA user_version = {}", store_schema_version()).c_str()));
  return transaction.commit();
}

}  // namespace infermeter
