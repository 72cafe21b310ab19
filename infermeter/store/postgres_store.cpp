// The store in a PostgreSQL database: a schema of its own, `infermeter`, with the tables of schema.cpp and the table
// store_version, whose one row says which version they are.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "infermeter/store/postgres.hpp"
#include "infermeter/store/postgres_sql.hpp"
#include "infermeter/store/schema.hpp"
#include "infermeter/store/store_open.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

struct ServerState {
  bool is_empty = false;
  std::int64_t version = 0;
};

Error no_rights(const PostgresDatabase& database, std::string_view what) {
  return io_error(fmt::format("the user '{}' may not {} the store {}: its owner grants rights (docs/store.md)",
                              database.user(), what, database.name()));
}

Error not_ours(const PostgresDatabase& database, std::string_view why) {
  return io_error(
      fmt::format("the store {} is refused: its schema {} is not as infermeter makes it: {} (--store names "
                  "another database)",
                  database.name(), postgres_schema, why));
}

// A view in place of a table would be asked with our statements.
Result<Done> check_tables(const PostgresDatabase& database) {
  for (const SealedTable* table : sealed_tables()) {
    std::string columns;
    for (const auto column : table->columns) columns += fmt::format(", '{}'", column == "\"end\"" ? "end" : column);
    INFERMETER_TRY(
        const auto found,
        database.integer(fmt::format("SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
                                     "WHERE c.oid = to_regclass('{}.{}') AND c.relkind = 'r' AND NOT a.attisdropped "
                                     "AND a.attname IN ('rowid', 'checksum'{})",
                                     postgres_schema, table->name, columns)));
    if (found != static_cast<std::int64_t>(table->columns.size()) + 2) {
      return not_ours(database, fmt::format("{} is not a table, or lacks columns", table->name));
    }
  }
  return Done{};
}

// The catalogue alone is asked, until the tables are known to be ours.
Result<ServerState> examine(const PostgresDatabase& database) {
  INFERMETER_TRY(const auto moment, Transaction::begin_reading(database));
  INFERMETER_TRY(const auto schemas,
                 database.integer("SELECT count(*) FROM pg_namespace WHERE nspname = ?1", postgres_schema));
  if (schemas == 0) return ServerState{.is_empty = true};
  INFERMETER_TRY(const auto usable, database.integer("SELECT has_schema_privilege(?1, 'USAGE')", postgres_schema));
  if (usable == 0) return no_rights(database, "read");
  INFERMETER_TRY(const auto tables, database.integer("SELECT count(*) FROM pg_class WHERE relnamespace = "
                                                     "(SELECT oid FROM pg_namespace WHERE nspname = ?1)",
                                                     postgres_schema));
  if (tables == 0) return ServerState{.is_empty = true};
  INFERMETER_TRY(const auto ours, database.integer("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND oid = "
                                                   "to_regclass('infermeter.store_version')"));
  if (ours == 0) return not_ours(database, "it has no table store_version, so that it is another program's");
  INFERMETER_TRY(const auto readable,
                 database.integer("SELECT has_table_privilege('infermeter.store_version', 'SELECT')"));
  if (readable == 0) return no_rights(database, "read");
  INFERMETER_TRY(const auto version, database.integer("SELECT version FROM infermeter.store_version"));
  if (version > store_schema_version()) {
    return io_error(
        fmt::format("the store {} was written by a newer infermeter (its schema is {}, this one knows {}): use "
                    "that infermeter, or another database (--store)",
                    database.name(), version, store_schema_version()));
  }
  if (version < 1) return not_ours(database, "its version is not known");
  if (version == store_schema_version()) INFERMETER_TRY_DONE(check_tables(database));
  return ServerState{.version = version};
}

// Others may be trying the same at the same time: one does it, and the others find it done.
Result<Done> upgrade(const PostgresDatabase& database) {
  INFERMETER_TRY(auto transaction, Transaction::begin(database));
  INFERMETER_TRY_DONE(
      database.execute(fmt::format("SELECT pg_advisory_xact_lock({}, 0)", store_application_id).c_str()));
  INFERMETER_TRY(const auto state, examine(database));
  if (state.version == store_schema_version()) return transaction.commit();
  if (state.is_empty) {
    INFERMETER_TRY(const auto schemas,
                   database.integer("SELECT count(*) FROM pg_namespace WHERE nspname = ?1", postgres_schema));
    if (schemas == 0) {
      INFERMETER_TRY(const auto may, database.integer("SELECT has_database_privilege(current_database(), 'CREATE')"));
      if (may == 0) return no_rights(database, "make");
      INFERMETER_TRY_DONE(database.execute("CREATE SCHEMA infermeter"));
    }
    INFERMETER_TRY_DONE(
        database.execute("CREATE TABLE store_version (version BIGINT NOT NULL); "
                         "INSERT INTO store_version VALUES (0)"));
  }
  for (auto step = static_cast<std::size_t>(state.version); step < store_schema_steps().size(); ++step) {
    INFERMETER_TRY_DONE(database.execute(schema_in_postgres(store_schema_steps()[step]).c_str()));
  }
  INFERMETER_TRY_DONE(database.execute(server_additions(state.version).c_str()));
  INFERMETER_TRY_DONE(
      database.run("UPDATE store_version SET version = ?1", static_cast<std::int64_t>(store_schema_version())));
  return transaction.commit();
}

Result<bool> may_write(const PostgresDatabase& database) {
  INFERMETER_TRY(const auto may, database.integer("SELECT has_table_privilege('infermeter.runs', 'INSERT') AND "
                                                  "NOT pg_is_in_recovery() AND "
                                                  "current_setting('default_transaction_read_only') = 'off'"));
  return may != 0;
}

}  // namespace

Result<OpenedDatabase> open_postgres_store(Store::Mode mode, const StorePlace& place, const Waiting& waiting) {
  INFERMETER_TRY(auto database, PostgresDatabase::open(place, waiting));
  INFERMETER_TRY(auto state, examine(*database));
  if (state.is_empty && mode != Store::Mode::write) {
    return io_error(fmt::format(
        "there is no store {}: nothing has been measured there yet (--store names the database)", place.shown()));
  }
  bool writable = false;
  if (state.version == store_schema_version()) {
    INFERMETER_TRY(writable, may_write(*database));
    if (mode == Store::Mode::write && !writable) return no_rights(*database, "write to");
  } else if (mode == Store::Mode::read) {
    return io_error(
        fmt::format("the store {} was written by an older infermeter, which cannot read it any more once it is brought "
                    "up to date: `infermeter history` does that, by its owner",
                    place.shown()));
  } else {
    INFERMETER_TRY_DONE(upgrade(*database));
    writable = true;
  }
  database->heed_signals();
  return OpenedDatabase{.database = std::move(database), .writable = writable && mode != Store::Mode::read};
}

}  // namespace infermeter
