// SQLite's C API with destructors and Results: what a store needs of it, nothing more.
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
#include "infermeter/store/database.hpp"

struct sqlite3;

namespace infermeter {

// The file that a path names.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  [[nodiscard]] bool operator==(const FileIdentity&) const = default;
};

// Not to be moved while statements of it are alive.
class SqliteDatabase : public Database {
 public:
  enum class Access {
    read,             // never writes; replays another's write-ahead log if it can
    read_unchanging,  // for files in folders that nobody can write to: no locks, no log
    write,            // makes the file if it is not there
  };
  // What is there and is no regular file is refused, and none of it is opened.
  [[nodiscard]] static Result<SqliteDatabase> open(const std::filesystem::path& file, Access access,
                                                   const Waiting& waiting);
  [[nodiscard]] static Result<SqliteDatabase> in_memory();
  SqliteDatabase(SqliteDatabase&&) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) = delete;
  ~SqliteDatabase() override;

  [[nodiscard]] Result<Done> execute(const char* sql) const override;
  [[nodiscard]] std::int64_t changed_rows() const override;
  void have_heard(int interrupts) const override;
  [[nodiscard]] bool is_shared() const override { return false; }
  [[nodiscard]] bool is_lost() const override { return false; }
  [[nodiscard]] std::string_view own_run() const override { return "1 = 1"; }
  [[nodiscard]] bool in_transaction() const override;
  // For writing, the write lock is taken at once.
  [[nodiscard]] Result<Done> begin(Purpose purpose) const override;
  [[nodiscard]] Result<Done> commit() const override;
  void roll_back() const override;
  // A byte of the file PATH-lock.
  [[nodiscard]] Result<std::shared_ptr<void>> take_run_lock(std::string_view run) const override;
  [[nodiscard]] bool is_run_locked(std::string_view run) const override;

  // Again and again while others hold the file, as long as others are waited for: for what SQLite's own busy handler
  // leaves out (switching to a write-ahead log, recovering one).
  [[nodiscard]] Result<Done> execute_patiently(const char* sql) const;
  // What was written is in the files that the path names, and whole; an error if they were removed, replaced or cut. To
  // be asked before a transaction and after its commit.
  [[nodiscard]] Result<Done> check_files() const;

  [[nodiscard]] const std::string& path() const { return path_; }

  // What SQLite says, as a sentence that names the file and what helps.
  [[nodiscard]] Error error(int code) const;

 protected:
  [[nodiscard]] Result<Statement> prepare_only(std::string_view sql) const override;

 private:
  friend class SqliteStatement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  struct Log;
  SqliteDatabase(std::unique_ptr<sqlite3, Close> handle, std::filesystem::path file, const Waiting& waiting);

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

}  // namespace infermeter
