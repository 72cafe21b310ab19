// Where a store is: an SQLite file, or a PostgreSQL database that libpq finds (docs/store.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

class StorePlace {
 public:
  StorePlace(std::filesystem::path file) : file_(std::move(file)) {}  // NOLINT(google-explicit-constructor): is one
  StorePlace(const char* file) : file_(file) {}                       // NOLINT(google-explicit-constructor): likewise

  // `text`: postgresql://…, service=NAME or libpq's other KEY=VALUE words; anything else is a file. Errors: a password
  // in it, another database's URL, what libpq does not understand. Nothing is connected to.
  [[nodiscard]] static Result<StorePlace> from_text(std::string_view text);

  [[nodiscard]] bool is_database() const { return !connection_.empty(); }
  // What libpq connects to; of a database.
  [[nodiscard]] const std::string& connection() const { return connection_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  // For a sentence, on one line: the path, or host, port and name of the database.
  [[nodiscard]] std::string shown() const;
  // The flag that chooses another: --output-dir or --store.
  [[nodiscard]] std::string_view flag() const { return is_database() ? "--store" : "--output-dir"; }
  // False: a file that is not there. Whether a database is, only connecting to it shows.
  [[nodiscard]] bool may_exist() const;

 private:
  StorePlace() = default;
  std::filesystem::path file_;
  std::string connection_, shown_;
};

// The place of a plan's runs: plan.store, or OUTPUT_DIR/infermeter.db.
[[nodiscard]] Result<StorePlace> store_place(const Plan& plan);

}  // namespace infermeter
