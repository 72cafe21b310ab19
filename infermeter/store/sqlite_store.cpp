// The store in an SQLite file.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "infermeter/store/schema.hpp"
#include "infermeter/store/sqlite.hpp"
#include "infermeter/store/store_open.hpp"

namespace infermeter {
namespace {

Result<Done> make_folder(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (!code) return Done{};
  return io_error(
      fmt::format("cannot make the folder {}: {} (--output-dir chooses another)", folder.string(), code.message()));
}

Result<SqliteDatabase> open_for_writing(const std::filesystem::path& file, const Waiting& waiting) {
  INFERMETER_TRY_DONE(make_folder(std::filesystem::absolute(file).parent_path()));
  INFERMETER_TRY(auto database, SqliteDatabase::open(file, SqliteDatabase::Access::write, waiting));
  INFERMETER_TRY(const auto state, examine_store(database, file));  // before anything of it is changed
  INFERMETER_TRY_DONE(database.execute_patiently("PRAGMA journal_mode = WAL"));
  INFERMETER_TRY_DONE(database.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  if (state != StoreState::current) INFERMETER_TRY_DONE(upgrade_store(database, file));
  return database;
}

Error no_store(const std::filesystem::path& file) {
  return io_error(fmt::format(
      "there is no store {}: nothing has been measured there yet (--output-dir names the folder)", file.string()));
}

bool has_write_ahead_log(const std::filesystem::path& file) {
  std::error_code code;
  const auto size = std::filesystem::file_size(std::filesystem::path(file.string() + "-wal"), code);
  return !code && size > 0;
}

bool can_write_beside(const std::filesystem::path& file) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0;
}

bool can_write(const std::filesystem::path& file) {
  return can_write_beside(file) && ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0;
}

// A store of an older schema is brought up to date where it can be written to: a report of an earlier run needs no run
// of this version first.
Result<SqliteDatabase> examined(Result<SqliteDatabase> database, const std::filesystem::path& file,
                                const Waiting& waiting) {
  if (!database.ok()) return database;
  INFERMETER_TRY(const auto state, examine_store(*database, file));
  if (state == StoreState::empty) return no_store(file);
  if (state == StoreState::current) return database;
  if (!can_write(file)) {
    return io_error(
        fmt::format("the store {} was written by an older infermeter, and cannot be brought up to date where nothing "
                    "can be written: copy its folder to another place and read it there (--output-dir)",
                    file.string()));
  }
  const auto upgraded = open_for_writing(file, waiting);
  return upgraded.ok() ? SqliteDatabase::open(file, SqliteDatabase::Access::read, waiting) : upgraded.error();
}

// A file with a write-ahead log is read through an index beside it, which cannot be made in a folder that cannot be
// written to. Without a log the file itself is complete; with one, leaving it out would hide the latest records.
Result<SqliteDatabase> open_for_reading(const std::filesystem::path& file, const Waiting& waiting) {
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return no_store(file);
  auto database = examined(SqliteDatabase::open(file, SqliteDatabase::Access::read, waiting), file, waiting);
  if (database.ok() || can_write_beside(file)) return database;
  if (!has_write_ahead_log(file)) {
    return examined(SqliteDatabase::open(file, SqliteDatabase::Access::read_unchanging, waiting), file, waiting);
  }
  return io_error(
      fmt::format("the store {} has records that cannot be read where nothing can be written: copy its folder to "
                  "another place and read it there (--output-dir)",
                  file.string()));
}

Result<OpenedDatabase> opened(Result<SqliteDatabase> database, bool writable) {
  if (!database.ok()) return database.error();
  return OpenedDatabase{.database = std::make_unique<SqliteDatabase>(std::move(database).value()),
                        .writable = writable};
}

// An empty file is nothing yet, and nothing is to be made of it.
Result<OpenedDatabase> open_what_is_there(const std::filesystem::path& file, const Waiting& waiting) {
  std::error_code code;
  const auto size = std::filesystem::file_size(file, code);
  if (code == std::errc::no_such_file_or_directory || (!code && size == 0)) return no_store(file);
  auto database = open_for_writing(file, waiting);
  if (database.ok() || can_write(file)) return opened(std::move(database), true);
  return opened(open_for_reading(file, waiting), false);
}

}  // namespace

Result<OpenedDatabase> open_sqlite_store(Store::Mode mode, const std::filesystem::path& file, const Waiting& waiting) {
  switch (mode) {
    case Store::Mode::read: return opened(open_for_reading(file, waiting), false);
    case Store::Mode::write: return opened(open_for_writing(file, waiting), true);
    case Store::Mode::write_if_possible: return open_what_is_there(file, waiting);
  }
  return internal_error("unknown mode");
}

}  // namespace infermeter
