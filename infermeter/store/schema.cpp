#include "infermeter/store/schema.hpp"

#include <fmt/format.h>

#include <array>

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
};

}  // namespace

int store_schema_version() { return static_cast<int>(steps.size()); }

Result<StoreState> examine_store(const Database& database, const std::filesystem::path& file) {
  // One statement, hence one moment: another process may be making the file just now.
  INFERMETER_TRY(auto statement, database.prepare("SELECT (SELECT application_id FROM pragma_application_id), "
                                                  "(SELECT user_version FROM pragma_user_version), "
                                                  "(SELECT count(*) FROM sqlite_master)"));
  INFERMETER_TRY_DONE(statement.step());
  const auto application = statement.integer(0), version = statement.integer(1), objects = statement.integer(2);
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
  return version == store_schema_version() ? StoreState::current : StoreState::older;
}

Result<Done> upgrade_store(const Database& database, const std::filesystem::path& file) {
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
