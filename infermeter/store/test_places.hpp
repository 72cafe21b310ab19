// Where the stores of tests are: a new file, or an emptied database of a real server, which is started once.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "infermeter/store/postgres.hpp"
#include "infermeter/store/store_place.hpp"
#include "infermeter/store/test_records.hpp"

namespace infermeter::test {

// The folder of its socket; empty: PostgreSQL is not installed. It ends with this process.
const std::string& postgres_server();

inline std::string postgres_url(std::string_view user = "infermeter") {
  return fmt::format("postgresql:///postgres?host={}&user={}", postgres_server(), user);
}

// Says what no verb says.
inline void run_on_postgres(const char* sql) {
  const auto database = PostgresDatabase::open(StorePlace::from_text(postgres_url()).value(), {.limit_ms = 1000});
  ASSERT_TRUE(database.ok()) << database.error().message;
  const auto done = (*database)->execute(sql);
  ASSERT_TRUE(done.ok()) << done.error().message;
}

inline StorePlace emptied_database() {
  run_on_postgres("DROP SCHEMA IF EXISTS infermeter CASCADE");
  return StorePlace::from_text(postgres_url()).value();
}

// Of tests that every kind of store passes.
class OnEachStore : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!place.is_database() && GetParam() == std::string("Postgresql")) {
      GTEST_SKIP() << "PostgreSQL is not installed: scripts/setup --tests installs it";
    }
  }
  const TemporaryFolder folder;
  const StorePlace place = GetParam() == std::string("Postgresql") && !postgres_server().empty()
                               ? emptied_database()
                               : StorePlace(folder / "new/folder/infermeter.db");
};

inline std::string name_of_store(const testing::TestParamInfo<const char*>& parameter) { return parameter.param; }

}  // namespace infermeter::test

#define INFERMETER_ON_EACH_STORE(suite) \
  INSTANTIATE_TEST_SUITE_P(On, suite, testing::Values("Sqlite", "Postgresql"), infermeter::test::name_of_store)
