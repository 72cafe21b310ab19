// The store's tables and their versions (docs/store.md).
#pragma once

#include <filesystem>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/store/sqlite.hpp"

namespace infermeter {

// "infm", kept in the file's header: tells our files from other programs' SQLite databases.
inline constexpr int store_application_id = 0x696e666d;

// The version that this program reads and writes: the number of steps in schema.cpp.
[[nodiscard]] int store_schema_version();

enum class StoreState { empty, current, older };

// Looks without writing. Another program's database, or a newer infermeter's, is an error.
[[nodiscard]] Result<StoreState> examine_store(const Database& database, const std::filesystem::path& file);

// Makes an empty or older file into a current one, in one transaction; others may be trying the same at the same time.
[[nodiscard]] Result<Done> upgrade_store(const Database& database, const std::filesystem::path& file);

}  // namespace infermeter
