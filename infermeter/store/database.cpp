#include "infermeter/store/database.hpp"

namespace infermeter {

Result<Done> Database::drain(Statement& statement) {
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return Done{};
  }
}

Result<Transaction> Transaction::begin(const Database& database) {
  if (database.in_transaction()) return Transaction(nullptr);
  INFERMETER_TRY_DONE(database.begin(Database::Purpose::writing));
  return Transaction(&database);
}

Result<Transaction> Transaction::begin_reading(const Database& database) {
  if (database.in_transaction()) return Transaction(nullptr);
  INFERMETER_TRY_DONE(database.begin(Database::Purpose::reading));
  return Transaction(&database);
}

Result<Done> Transaction::commit() {
  if (database_ == nullptr) return Done{};
  INFERMETER_TRY_DONE(database_->commit());
  database_ = nullptr;
  return Done{};
}

Transaction::~Transaction() {
  if (database_ != nullptr) database_->roll_back();
}

}  // namespace infermeter
