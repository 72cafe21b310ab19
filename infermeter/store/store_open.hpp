// How a store's database is opened: looked at first, made or brought up to date by those who write.
#pragma once

#include <filesystem>
#include <memory>

#include "infermeter/diagnostics/patience.hpp"
#include "infermeter/store/database.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {

struct OpenedDatabase {
  std::unique_ptr<Database> database;
  bool writable = false;
};

[[nodiscard]] Result<OpenedDatabase> open_sqlite_store(Store::Mode mode, const std::filesystem::path& file,
                                                       const Waiting& waiting);
[[nodiscard]] Result<OpenedDatabase> open_postgres_store(Store::Mode mode, const StorePlace& place,
                                                         const Waiting& waiting);

}  // namespace infermeter
