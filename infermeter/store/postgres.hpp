// libpq with destructors and Results: what a store needs of it, nothing more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/patience.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/store/database.hpp"
#include "infermeter/store/store_place.hpp"

struct pg_conn;
struct pg_result;

namespace infermeter {

// The schema of the database that holds a store.
inline constexpr std::string_view postgres_schema = "infermeter";

class PostgresDatabase : public Database {
 public:
  // Connected, with the session's settings: UTF-8, our schema alone, commits that are on disk. Ends with an error when
  // a signal comes, or after 10 s (connect_timeout of the place).
  [[nodiscard]] static Result<std::unique_ptr<PostgresDatabase>> open(const StorePlace& place, const Waiting& waiting);
  ~PostgresDatabase() override;

  [[nodiscard]] Result<Done> execute(const char* sql) const override;
  [[nodiscard]] std::int64_t changed_rows() const override { return changed_rows_; }
  void have_heard(int interrupts) const override;
  [[nodiscard]] bool is_shared() const override { return true; }
  [[nodiscard]] bool is_lost() const override;
  [[nodiscard]] std::string_view own_run() const override {
    return "(written_by = current_user OR NOT row_security_active('infermeter.runs'))";
  }
  [[nodiscard]] bool in_transaction() const override;
  [[nodiscard]] Result<Done> begin(Purpose purpose) const override;
  [[nodiscard]] Result<Done> commit() const override;
  void roll_back() const override;
  // An advisory lock of this connection: the server drops it with the connection.
  [[nodiscard]] Result<std::shared_ptr<void>> take_run_lock(std::string_view run) const override;
  [[nodiscard]] bool is_run_locked(std::string_view run) const override;

  // Reading ends at a signal from now on.
  void heed_signals() const { heeds_signals_ = true; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string user() const;

 protected:
  [[nodiscard]] Result<Statement> prepare_only(std::string_view sql) const override;

 private:
  friend class PostgresStatement;
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  struct Clear {
    void operator()(pg_result* result) const;
  };
  struct Parameters;
  using Answer = std::unique_ptr<pg_result, Clear>;

  PostgresDatabase(std::shared_ptr<pg_conn> connection, std::string name, const Waiting& waiting);
  // One statement with its parameters, or, without any, several; the last result of them.
  [[nodiscard]] Result<Answer> ask(const std::string& sql, const Parameters* parameters) const;
  [[nodiscard]] Result<Done> wait_for_answer() const;
  [[nodiscard]] Error error(const pg_result* result) const;
  [[nodiscard]] Error lost() const;

  std::shared_ptr<pg_conn> connection_;  // with the locks of runs
  std::string name_;                     // for sentences
  std::unique_ptr<Patience> patience_;
  mutable std::int64_t changed_rows_ = 0;
  mutable bool writes_ = false;   // within a transaction for writing
  mutable bool commits_ = false;  // whether what was written is kept is open
  mutable bool heeds_signals_ = false;
};

}  // namespace infermeter
