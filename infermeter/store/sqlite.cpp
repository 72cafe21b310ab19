#include "infermeter/store/sqlite.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "infermeter/store/record_digest.hpp"

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

int open_flags(SqliteDatabase::Access access) {
  switch (access) {
    case SqliteDatabase::Access::read: return SQLITE_OPEN_READONLY;
    case SqliteDatabase::Access::read_unchanging: return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    case SqliteDatabase::Access::write: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return SQLITE_OPEN_READONLY;
}

std::string cause(sqlite3* handle, int code) {
  const int number = handle == nullptr ? 0 : sqlite3_system_errno(handle);
  if (number != 0) return std::strerror(number);
  return sqlite3_errstr(code);
}

// What was written before its commit is on no disk for sure once syncing failed, and may be on it all the same.
std::string_view fate_of_record(int code) {
  const bool unknown = code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
  return unknown ? "it is not known whether a record that was being kept is in it (`infermeter runs` shows what is)"
                 : "a record that was being kept is not in it";
}

Error out_of_memory(const std::string& file) {
  return worker_error(
      fmt::format("memory ran out at work on the store {}; a record that was being kept is not in it", file));
}

Error sentence(const std::string& file, int code, const std::string& why) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return io_error(fmt::format(
          "{} is not an infermeter store: it is not an SQLite database (--output-dir chooses another folder)", file));
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
      return io_error(fmt::format("cannot read or write the store {}: {}; {}", file, why, fate_of_record(code)));
    case SQLITE_NOMEM: return out_of_memory(file);
    case SQLITE_TOOBIG: return io_error(fmt::format("the store {} cannot keep a single value of more than 1 GB", file));
    default: return internal_error(fmt::format("the store {} failed: {}", file, why));
  }
}

// Otherwise a value that could not be read would be an empty one.
void throw_if_out_of_memory(sqlite3_stmt* statement) {
  if (sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM) throw std::bad_alloc();
}

// A signal ends what only reads; what is being written is kept.
int stop_reading(void* database) {
  const auto& [handle, patience] = *static_cast<const std::pair<sqlite3*, const Patience*>*>(database);
  return patience->interrupted() && sqlite3_txn_state(handle, nullptr) != SQLITE_TXN_WRITE ? 1 : 0;
}

int wait_for_others(void* patience, int) { return static_cast<Patience*>(patience)->pause() ? 1 : 0; }

// Of a log as long as SQLite lets it grow by itself, the pages are brought into the file. Its failure is none of the
// commit's: the log is on disk.
int note_commit(void* frames, sqlite3* handle, const char* name, int frames_now) {
  constexpr int most_frames = 1000;
  *static_cast<int*>(frames) = frames_now;
  if (frames_now >= most_frames) sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  return SQLITE_OK;
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return FileIdentity{.device = file.st_dev, .inode = file.st_ino};
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// Opening or reading a FIFO or a device may never end.
Result<Done> check_kinds(const std::string& path) {
  for (const char* const ending : {"", "-wal", "-shm", "-journal"}) {
    struct stat file{};
    if (::stat((path + ending).c_str(), &file) != 0 || S_ISREG(file.st_mode)) continue;
    return io_error(fmt::format("cannot open the store {}: {} {} (--output-dir chooses another place)",
                                shown_path(path), *ending == '\0' ? "it is" : fmt::format("its file {} is", ending),
                                kind_of(file.st_mode)));
  }
  return Done{};
}

// SQLite tries a file that cannot be written once more for reading, and then says that it is not there.
std::string why_not_opened(sqlite3* handle, int code, const std::string& path, SqliteDatabase::Access access) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (access == SqliteDatabase::Access::write && ::access(path.c_str(), F_OK) != 0 &&
      ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) != 0) {
    return std::strerror(errno);
  }
  return cause(handle, code);
}

// Of the write-ahead log's first `frames` frames, that a commit said are there: the file is long enough, and no frame's
// head is a hole, as it is where the file was cut and written on (https://www.sqlite.org/fileformat.html#walformat). A
// log that others began anew since then has older frames there, or newer ones.
bool is_whole_log(const std::string& path, int frames) {
  constexpr off_t log_head = 32, frame_head = 24;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<unsigned char, log_head> head{};
  bool whole = ::pread(file, head.data(), head.size(), 0) == log_head && head[0] == 0x37 && head[1] == 0x7f;
  const off_t page = head[8] << 24 | head[9] << 16 | head[10] << 8 | head[11];
  struct stat now{};
  whole = whole && ::fstat(file, &now) == 0 && now.st_size >= log_head + frames * (frame_head + page);
  for (off_t frame = 0; whole && frame < frames; ++frame) {
    std::array<unsigned char, frame_head> bytes{};
    whole = ::pread(file, bytes.data(), bytes.size(), log_head + frame * (frame_head + page)) == frame_head &&
            std::ranges::any_of(bytes, [](unsigned char byte) { return byte != 0; });
  }
  ::close(file);
  return whole;
}

}  // namespace

class SqliteStatement : public DriverStatement {
 public:
  SqliteStatement(sqlite3_stmt* handle, const SqliteDatabase* database) : handle_(handle), database_(database) {}

  void bind(int index, std::int64_t value) override {
    bind_code_ = std::max(bind_code_, sqlite3_bind_int64(handle_.get(), index, value));
  }

  void bind(int index, double value) override {
    bind_code_ = std::max(bind_code_, sqlite3_bind_double(handle_.get(), index, value));
  }

  void bind_null(int index) override { bind_code_ = std::max(bind_code_, sqlite3_bind_null(handle_.get(), index)); }

  void bind(int index, std::string_view text) override {
    // An empty view may have no address, which SQLite would take for NULL.
    const char* start = text.empty() ? "" : text.data();
    bind_code_ = std::max(bind_code_,
                          sqlite3_bind_text64(handle_.get(), index, start, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }

  void bind(int index, std::span<const std::byte> bytes) override {
    const int code = bytes.empty()
                         ? sqlite3_bind_zeroblob(handle_.get(), index, 0)
                         : sqlite3_bind_blob64(handle_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC);
    bind_code_ = std::max(bind_code_, code);
  }

  Result<bool> step() override {
    if (bind_code_ != SQLITE_OK) return database_->error(bind_code_);
    const Patience::Operation waits(*database_->patience_);
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return database_->error(code);
  }

  ValueKind kind(int column) const override {
    switch (sqlite3_column_type(handle_.get(), column)) {
      case SQLITE_INTEGER: return ValueKind::integer;
      case SQLITE_FLOAT: return ValueKind::real;
      case SQLITE_TEXT: return ValueKind::text;
      case SQLITE_BLOB: return ValueKind::bytes;
      default: return ValueKind::null;
    }
  }

  std::int64_t integer(int column) const override { return sqlite3_column_int64(handle_.get(), column); }

  double real(int column) const override { return sqlite3_column_double(handle_.get(), column); }

  bool is_null(int column) const override { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }

  std::string text(int column) const override {
    const auto* start = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
    if (start == nullptr) throw_if_out_of_memory(handle_.get());
    return start == nullptr ? std::string() : std::string(start, size);
  }

  std::span<const std::byte> bytes(int column) const override {
    const auto* start = static_cast<const std::byte*>(sqlite3_column_blob(handle_.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
    if (start == nullptr) throw_if_out_of_memory(handle_.get());
    return start == nullptr ? std::span<const std::byte>() : std::span(start, size);
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  const SqliteDatabase* database_;
  int bind_code_ = 0;
};

// What is known of the write-ahead log: its length after the last commit.
struct SqliteDatabase::Log {
  int frames = 0;
  std::optional<FileIdentity> identity, index;
};

void SqliteDatabase::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

SqliteDatabase::SqliteDatabase(std::unique_ptr<sqlite3, Close> handle, std::filesystem::path file,
                               const Waiting& waiting)
    : patience_(std::make_unique<Patience>(waiting)),
      log_(std::make_unique<Log>()),
      handle_(std::move(handle)),
      file_(std::move(file)),
      reader_(std::make_unique<Reader>(handle_.get(), patience_.get())) {
  constexpr int steps_between_looks = 10'000;
  sqlite3_progress_handler(handle_.get(), steps_between_looks, stop_reading, reader_.get());
  sqlite3_busy_handler(handle_.get(), wait_for_others, patience_.get());
  sqlite3_wal_hook(handle_.get(), note_commit, &log_->frames);
}

SqliteDatabase::SqliteDatabase(SqliteDatabase&&) noexcept = default;
SqliteDatabase::~SqliteDatabase() = default;

Result<SqliteDatabase> SqliteDatabase::open(const std::filesystem::path& file, Access access, const Waiting& waiting) {
  const std::string path = std::filesystem::absolute(file).string();  // so that no name is special, ":memory:" say
  if (path.find('\0') != std::string::npos) {
    return usage_error("the store's path contains a NUL character: give another folder with --output-dir");
  }
  INFERMETER_TRY_DONE(check_kinds(path));
  const std::string name = access == Access::read_unchanging ? "file:" + percent_encoded(path) + "?immutable=1" : path;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &raw, open_flags(access), nullptr);
  std::unique_ptr<sqlite3, Close> handle(raw);
  if (code != SQLITE_OK) return sentence(shown_path(file), code, why_not_opened(raw, code, path, access));
  sqlite3_extended_result_codes(raw, 1);
  // The file may come from anywhere: what its schema says must not be able to run functions or to corrupt memory.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // Temporary tables of a store that cannot be written: in memory.
  sqlite3_exec(raw, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
  if (!add_digest_function(raw)) return out_of_memory(shown_path(file));
  SqliteDatabase database(std::move(handle), file, waiting);
  database.path_ = path;
  if (access == Access::write) database.identity_ = identity_of(path);
  return database;
}

Result<SqliteDatabase> SqliteDatabase::in_memory() {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE, nullptr);
  std::unique_ptr<sqlite3, Close> handle(raw);
  if (code != SQLITE_OK) return out_of_memory("in memory");
  return SqliteDatabase(std::move(handle), {}, {});
}

Result<Done> SqliteDatabase::execute(const char* sql) const {
  const Patience::Operation waits(*patience_);
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Done{};
}

Result<Done> SqliteDatabase::execute_patiently(const char* sql) const {
  const Patience::Operation waits(*patience_);
  int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  while (is_held_by_others(code) && patience_->pause())
    code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Done{};
}

void SqliteDatabase::have_heard(int interrupts) const { patience_->have_heard(interrupts); }

bool SqliteDatabase::in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

Result<Done> SqliteDatabase::check_files() const {
  if (!identity_) return Done{};
  const std::string& path = path_;
  const auto lost = [&](std::string_view what) {
    return io_error(fmt::format(
        "the store {} {} while it was in use: what was being kept is not in it, nor may be what was kept before",
        shown_path(file_), what));
  };
  int moved = 0;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0 || identity_of(path) != identity_) return lost("was removed or replaced");
  if (log_->frames == 0) return Done{};  // nothing of ours is in a log
  for (const auto& [ending, known] : {std::pair("-wal", &log_->identity), std::pair("-shm", &log_->index)}) {
    const auto now = identity_of(path + ending);
    if (!now || (*known && *known != now)) return lost(fmt::format("lost its file {}", ending));
    *known = now;
  }
  if (!is_whole_log(path + "-wal", log_->frames)) return lost("had its write-ahead log (-wal) cut");
  return Done{};
}

Result<Statement> SqliteDatabase::prepare_only(std::string_view sql) const {
  const Patience::Operation waits(*patience_);
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Statement(std::make_unique<SqliteStatement>(handle, this));
}

std::int64_t SqliteDatabase::changed_rows() const { return sqlite3_changes64(handle_.get()); }

Error SqliteDatabase::error(int code) const {
  if (is_held_by_others(code) && patience_->interrupted()) {
    return io_error(
        fmt::format("stopped while it waited for the store {}, which another program holds", shown_path(file_)));
  }
  if ((code & 0xff) == SQLITE_INTERRUPT) {
    return io_error(fmt::format("stopped while it read the store {}", shown_path(file_)));
  }
  const bool said_by_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  const std::string why = said_by_system ? cause(handle_.get(), code) : std::string(sqlite3_errmsg(handle_.get()));
  return sentence(shown_path(file_), code, why);
}

Result<Done> SqliteDatabase::begin(Purpose purpose) const {
  if (purpose == Purpose::reading) return execute_patiently("BEGIN");
  INFERMETER_TRY_DONE(check_files());
  return execute_patiently("BEGIN IMMEDIATE");
}

Result<Done> SqliteDatabase::commit() const {
  INFERMETER_TRY_DONE(execute_patiently("COMMIT"));
  return check_files();
}

// Whatever ROLLBACK says: SQLite has rolled back by itself then.
void SqliteDatabase::roll_back() const {
  if (in_transaction()) static_cast<void>(execute("ROLLBACK").ok());
}

}  // namespace infermeter
