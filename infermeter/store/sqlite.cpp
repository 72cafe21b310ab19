#include "infermeter/store/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

namespace infermeter {
namespace {

bool is_held_by_others(int code) {
  const int primary = code & 0xff;
  // SQLITE_PROTOCOL: too many others began to read or write a write-ahead log at the same moment.
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED || primary == SQLITE_PROTOCOL;
}

// The path as part of a "file:" URI: only unreserved characters and '/' stand for themselves.
std::string percent_encoded(const std::string& path) {
  std::string encoded;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::strchr("/._-~", c) != nullptr;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

// A path in a sentence: on one line, whatever it holds.
std::string shown_path(const std::filesystem::path& path) {
  std::string text = path.string();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

int open_flags(Database::Access access) {
  switch (access) {
    case Database::Access::read: return SQLITE_OPEN_READONLY;
    case Database::Access::read_unchanging: return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    case Database::Access::write: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return SQLITE_OPEN_READONLY;
}

std::string cause(sqlite3* handle, int code) {
  const int number = handle == nullptr ? 0 : sqlite3_system_errno(handle);
  if (number != 0) return std::strerror(number);
  return sqlite3_errstr(code);
}

Error sentence(const std::string& file, int code, const std::string& why) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return io_error(fmt::format(
          "{} is no infermeter store: it is not an SQLite database (--output-dir chooses another folder)", file));
    case SQLITE_CORRUPT:
      return io_error(fmt::format(
          "the store {0} is damaged ({1}): `sqlite3 {0} .recover` rescues what can still be read", file, why));
    case SQLITE_FULL:
      return io_error(
          fmt::format("cannot write to the store {}: the disk is full; what it held before is intact (--output-dir "
                      "chooses another folder)",
                      file));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return io_error(
          fmt::format("cannot write to the store {}: it is read-only (--output-dir chooses another folder)", file));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return io_error(fmt::format(
          "the store {} is held by another program that does not let go of it (--output-dir chooses another folder)",
          file));
    case SQLITE_CANTOPEN:
      return io_error(fmt::format("cannot open the store {}: {} (--output-dir chooses another folder)", file, why));
    case SQLITE_IOERR:
      return io_error(
          fmt::format("cannot read or write the store {}: {}; a record that was being kept is not in it", file, why));
    case SQLITE_TOOBIG: return io_error(fmt::format("the store {} cannot keep a single value of more than 1 GB", file));
    default: return internal_error(fmt::format("the store {} failed: {}", file, why));
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

void Statement::bind(int index, std::int64_t value) {
  bind_code_ = std::max(bind_code_, sqlite3_bind_int64(handle_.get(), index, value));
}

void Statement::bind(int index, double value) {
  bind_code_ = std::max(bind_code_, sqlite3_bind_double(handle_.get(), index, value));
}

void Statement::bind(int index, const std::optional<double>& value) {
  if (value) return bind(index, *value);
  bind_code_ = std::max(bind_code_, sqlite3_bind_null(handle_.get(), index));
}

void Statement::bind(int index, std::string_view text) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* start = text.empty() ? "" : text.data();
  bind_code_ = std::max(bind_code_,
                        sqlite3_bind_text64(handle_.get(), index, start, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind(int index, std::span<const std::byte> bytes) {
  const int code = bytes.empty() ? sqlite3_bind_zeroblob(handle_.get(), index, 0)
                                 : sqlite3_bind_blob64(handle_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC);
  bind_code_ = std::max(bind_code_, code);
}

Result<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) return database_->error(bind_code_);
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->error(code);
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }

double Statement::real(int column) const { return sqlite3_column_double(handle_.get(), column); }

bool Statement::is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }

std::string Statement::text(int column) const {
  const auto* start = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return start == nullptr ? std::string() : std::string(start, size);
}

std::span<const std::byte> Statement::bytes(int column) const {
  const auto* start = static_cast<const std::byte*>(sqlite3_column_blob(handle_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return start == nullptr ? std::span<const std::byte>() : std::span(start, size);
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::open(const std::filesystem::path& file, Access access, int busy_timeout_ms) {
  const std::string path = std::filesystem::absolute(file).string();  // so that no name is special, ":memory:" say
  if (path.find('\0') != std::string::npos) {
    return usage_error("the store's path holds a NUL character: give another folder with --output-dir");
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return io_error(
        fmt::format("cannot open the store {}: it is a folder (--output-dir chooses another place)", shown_path(file)));
  }
  const std::string name = access == Access::read_unchanging ? "file:" + percent_encoded(path) + "?immutable=1" : path;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &raw, open_flags(access), nullptr);
  std::unique_ptr<sqlite3, Close> handle(raw);
  if (code != SQLITE_OK) return sentence(shown_path(file), code, cause(raw, code));
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  // The file may come from anywhere: what its schema says must not be able to run functions or to corrupt memory.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return Database(std::move(handle), file, busy_timeout_ms);
}

Result<Done> Database::execute(const char* sql) const {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Done{};
}

Result<Done> Database::execute_patiently(const char* sql) const {
  constexpr int step_ms = 5;
  for (int waited_ms = 0;; waited_ms += step_ms) {
    const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return Done{};
    if (!is_held_by_others(code) || waited_ms >= busy_timeout_ms_) return error(code);
    sqlite3_sleep(step_ms);
  }
}

Result<Statement> Database::prepare_only(std::string_view sql) const {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Statement(handle, this);
}

Result<Done> Database::drain(Statement& statement) {
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return Done{};
  }
}

Result<std::int64_t> Database::integer(std::string_view sql) const {
  INFERMETER_TRY(auto statement, prepare(sql));
  INFERMETER_TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

std::int64_t Database::changed_rows() const { return sqlite3_changes64(handle_.get()); }

Error Database::error(int code) const {
  const bool said_by_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  const std::string why = said_by_system ? cause(handle_.get(), code) : std::string(sqlite3_errmsg(handle_.get()));
  return sentence(shown_path(file_), code, why);
}

Result<Transaction> Transaction::begin(const Database& database) {
  INFERMETER_TRY_DONE(database.execute_patiently("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Result<Transaction> Transaction::begin_reading(const Database& database) {
  INFERMETER_TRY_DONE(database.execute_patiently("BEGIN"));
  return Transaction(&database);
}

Result<Done> Transaction::commit() {
  INFERMETER_TRY_DONE(database_->execute_patiently("COMMIT"));
  database_ = nullptr;
  return Done{};
}

Transaction::~Transaction() {
  // Whatever ROLLBACK says: SQLite has rolled back by itself then.
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK").ok());
}

}  // namespace infermeter
