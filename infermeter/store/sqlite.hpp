// SQLite's C API with destructors and Results: what a store needs of it, nothing more. Text and bytes are only ever
// bound, never pasted into SQL.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "infermeter/diagnostics/patience.hpp"
#include "infermeter/diagnostics/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace infermeter {

// The file that a path names.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  [[nodiscard]] bool operator==(const FileIdentity&) const = default;
};

// One prepared statement. A failed bind is kept and told by the next step.
class Statement {
 public:
  Statement(sqlite3_stmt* handle, const class Database* database) : handle_(handle), database_(database) {}

  void bind(int index, std::int64_t value);
  void bind(int index, int value) { bind(index, std::int64_t{value}); }
  void bind(int index, double value);
  void bind(int index, const std::optional<double>& value);  // nullopt: NULL
  void bind(int index, std::string_view text);
  void bind(int index, std::span<const std::byte> bytes);  // must live until the statement has been stepped

  // True: there is a row. False: done.
  [[nodiscard]] Result<bool> step();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::span<const std::byte> bytes(int column) const;  // until the next step

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  const Database* database_;
  int bind_code_ = 0;
};

// Not to be moved while statements of it are alive.
class Database {
 public:
  enum class Access {
    read,             // never writes; replays another's write-ahead log if it can
    read_unchanging,  // for files in folders that nobody can write to: no locks, no log
    write,            // makes the file if it is not there
  };
  // What is there and is no regular file is refused, and none of it is opened.
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file, Access access, const Waiting& waiting);
  [[nodiscard]] static Result<Database> in_memory();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  // One statement without results, or several without parameters.
  [[nodiscard]] Result<Done> execute(const char* sql) const;
  // Again and again while others hold the file, as long as others are waited for: for what SQLite's own busy handler
  // leaves out (switching to a write-ahead log, recovering one).
  [[nodiscard]] Result<Done> execute_patiently(const char* sql) const;
  [[nodiscard]] bool in_transaction() const;
  // So many signals are no reason to end a wait: only a further one is.
  void have_heard(int interrupts) const;
  // What was written is in the files that the path names, and whole; an error if they were removed, replaced or cut. To
  // be asked before a transaction and after its commit.
  [[nodiscard]] Result<Done> check_files() const;

  [[nodiscard]] const std::string& path() const { return path_; }

  // A statement with its parameters bound from ?1 on.
  template <class... Values>
  [[nodiscard]] Result<Statement> prepare(std::string_view sql, const Values&... values) const {
    auto statement = prepare_only(sql);
    int index = 0;
    if (statement.ok()) (statement->bind(++index, values), ...);
    return statement;
  }
  // The same, run to its end.
  template <class... Values>
  [[nodiscard]] Result<Done> run(std::string_view sql, const Values&... values) const {
    INFERMETER_TRY(auto statement, prepare(sql, values...));
    return drain(statement);
  }
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql) const;  // first column of the first row
  [[nodiscard]] std::int64_t changed_rows() const;

  // What SQLite says, as a sentence that names the file and what helps.
  [[nodiscard]] Error error(int code) const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  struct Log;
  Database(std::unique_ptr<sqlite3, Close> handle, std::filesystem::path file, const Waiting& waiting);
  [[nodiscard]] Result<Statement> prepare_only(std::string_view sql) const;
  [[nodiscard]] static Result<Done> drain(Statement& statement);

  // Before the handle, which points to them.
  std::unique_ptr<Patience> patience_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::filesystem::path file_;            // as the user names it
  std::string path_;                      // absolute when it was opened: the program may change its folder
  std::optional<FileIdentity> identity_;  // of a file that is written
  using Reader = std::pair<sqlite3*, const Patience*>;
  std::unique_ptr<Reader> reader_;
};

// Takes the write lock at once, so that what was read inside it cannot be outdated when it is written. Rolls back
// unless committed. Within another transaction it is a part of that one, which alone commits or rolls back.
class Transaction {
 public:
  [[nodiscard]] static Result<Transaction> begin(const Database& database);
  // For reading: everything is seen as it is at one moment.
  [[nodiscard]] static Result<Transaction> begin_reading(const Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  // Ok: on disk, in the file that the path names.
  [[nodiscard]] Result<Done> commit();

 private:
  explicit Transaction(const Database* database) : database_(database) {}
  const Database* database_;
};

}  // namespace infermeter
