// A database as the store needs it, nothing more: statements with bound values, transactions, the locks of runs. SQLite
// and PostgreSQL are behind it (sqlite.hpp, postgres.hpp), with one set of statements: parameters are ?1, ?2, …, the
// schema's name is never written, and text and bytes are only ever bound, never pasted into SQL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

enum class ValueKind { null, integer, real, text, bytes };

// A prepared statement as a driver has it. A failed bind is kept and told by the next step.
class DriverStatement {
 public:
  virtual ~DriverStatement() = default;
  virtual void bind(int index, std::int64_t value) = 0;
  virtual void bind(int index, double value) = 0;
  virtual void bind_null(int index) = 0;  // of a double
  virtual void bind(int index, std::string_view text) = 0;
  virtual void bind(int index, std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual Result<bool> step() = 0;
  [[nodiscard]] virtual ValueKind kind(int column) const = 0;
  [[nodiscard]] virtual std::int64_t integer(int column) const = 0;
  [[nodiscard]] virtual double real(int column) const = 0;
  [[nodiscard]] virtual bool is_null(int column) const = 0;
  [[nodiscard]] virtual std::string text(int column) const = 0;
  [[nodiscard]] virtual std::span<const std::byte> bytes(int column) const = 0;
};

class Statement {
 public:
  explicit Statement(std::unique_ptr<DriverStatement> driver) : driver_(std::move(driver)) {}

  void bind(int index, std::int64_t value) { driver_->bind(index, value); }
  void bind(int index, int value) { driver_->bind(index, std::int64_t{value}); }
  void bind(int index, double value) { driver_->bind(index, value); }
  void bind_null(int index) { driver_->bind_null(index); }
  void bind(int index, const std::optional<double>& value) {  // nullopt: NULL
    value ? driver_->bind(index, *value) : driver_->bind_null(index);
  }
  void bind(int index, std::string_view text) { driver_->bind(index, text); }
  // Must live until the statement has been stepped.
  void bind(int index, std::span<const std::byte> bytes) { driver_->bind(index, bytes); }

  // True: there is a row. False: done.
  [[nodiscard]] Result<bool> step() { return driver_->step(); }

  [[nodiscard]] ValueKind kind(int column) const { return driver_->kind(column); }
  [[nodiscard]] std::int64_t integer(int column) const { return driver_->integer(column); }
  [[nodiscard]] double real(int column) const { return driver_->real(column); }
  [[nodiscard]] bool is_null(int column) const { return driver_->is_null(column); }
  [[nodiscard]] std::string text(int column) const { return driver_->text(column); }
  [[nodiscard]] std::span<const std::byte> bytes(int column) const {
    return driver_->bytes(column);
  }  // until the next step

 private:
  std::unique_ptr<DriverStatement> driver_;
};

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  // One statement without results, or several without parameters.
  [[nodiscard]] virtual Result<Done> execute(const char* sql) const = 0;
  [[nodiscard]] virtual std::int64_t changed_rows() const = 0;  // by the last statement
  // So many signals are no reason to end a wait: only a further one is.
  virtual void have_heard(int interrupts) const = 0;

  // Several write at the same time: a row whose new value is made from others has to be held before these are read. And
  // a server guards what it keeps: rows have no checksum of ours. False: one writes at a time.
  [[nodiscard]] virtual bool is_shared() const = 0;

  // The connection has ended, and nothing can be kept any more.
  [[nodiscard]] virtual bool is_lost() const = 0;

  // What makes a transaction (below).
  enum class Purpose { reading, writing };
  [[nodiscard]] virtual bool in_transaction() const = 0;
  [[nodiscard]] virtual Result<Done> begin(Purpose purpose) const = 0;
  [[nodiscard]] virtual Result<Done> commit() const = 0;  // ok: kept for good
  virtual void roll_back() const = 0;

  // A condition for rows of `runs`: this user may change the run. Of a file: all.
  [[nodiscard]] virtual std::string_view own_run() const = 0;

  // The lock of a run, held by what is returned; empty: another has it. It ends with this process.
  [[nodiscard]] virtual Result<std::shared_ptr<void>> take_run_lock(std::string_view run) const = 0;
  [[nodiscard]] virtual bool is_run_locked(std::string_view run) const = 0;

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
  // First column of the first row; 0: there is none.
  template <class... Values>
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql, const Values&... values) const {
    INFERMETER_TRY(auto statement, prepare(sql, values...));
    INFERMETER_TRY(const bool row, statement.step());
    return row ? statement.integer(0) : 0;
  }

 protected:
  Database(Database&&) = default;
  [[nodiscard]] virtual Result<Statement> prepare_only(std::string_view sql) const = 0;

 private:
  [[nodiscard]] static Result<Done> drain(Statement& statement);
};

// For writing: what was read inside it cannot be outdated when it is written, as far as the database has one writer
// (is_shared). Rolls back unless committed. Within another transaction it is a part of that one, which alone commits or
// rolls back.
class Transaction {
 public:
  [[nodiscard]] static Result<Transaction> begin(const Database& database);
  // For reading: everything is seen as it is at one moment.
  [[nodiscard]] static Result<Transaction> begin_reading(const Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  // Ok: kept for good.
  [[nodiscard]] Result<Done> commit();

 private:
  explicit Transaction(const Database* database) : database_(database) {}
  const Database* database_;
};

}  // namespace infermeter
