// Fills a store: copies of the runs that it holds, by SQL, until there are RUNS more.
//   build/release/bench/many_runs PLACE RUNS [MACHINES]
// PLACE: as --store takes it. Copy i is of run i modulo the runs that were there, five minutes after the copy before
// it; its figures have values of their own and belong to machine i / runs modulo MACHINES, of which the first is that
// of the runs themselves. A finished run's rows are copied as they are, with checksums of their own, so that reading
// them costs what it costs after measuring; writing them does not (store_writers measures that).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/store/postgres.hpp"
#include "infermeter/store/schema.hpp"
#include "infermeter/store/sqlite.hpp"
#include "infermeter/store/store.hpp"

namespace {

using namespace infermeter;

constexpr int runs_per_transaction = 100;
constexpr double seconds_apart = 300;

using Changes = std::vector<std::pair<std::string_view, std::string_view>>;  // column, expression

// All rows of a run, with some columns changed; `others`: columns that no checksum is of.
std::string copy_of(const SealedTable& table, std::string_view key, const Changes& changes,
                    std::string_view others = "") {
  std::vector<std::string_view> values;
  for (const std::string_view column : table.columns) {
    const auto change = std::ranges::find(changes, column, &Changes::value_type::first);
    values.push_back(change == changes.end() ? column : change->second);
  }
  const auto chosen = fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("INSERT INTO {0} ({1}, checksum{2}) SELECT {3}, digest({3}){2} FROM {0} WHERE {4} = ?2",
                     table.name, fmt::join(table.columns, ", "), others, chosen, key);
}

struct Original {
  std::string id;
  double created_at = 0;
};

Result<std::unique_ptr<Database>> open(const StorePlace& place) {
  INFERMETER_TRY(const Store made, Store::open(place, Store::Mode::write));  // brings it up to date
  const Waiting waiting{.limit_ms = 30'000, .interrupt = nullptr};
  if (place.is_database()) {
    INFERMETER_TRY(auto database, PostgresDatabase::open(place, waiting));
    return std::unique_ptr<Database>(std::move(database));
  }
  INFERMETER_TRY(auto database, SqliteDatabase::open(place.file(), SqliteDatabase::Access::write, waiting));
  return std::unique_ptr<Database>(std::make_unique<SqliteDatabase>(std::move(database)));
}

Result<std::vector<Original>> originals(const Database& database) {
  INFERMETER_TRY(auto statement, database.prepare("SELECT id, created_at FROM runs WHERE finished = 1 ORDER BY rowid"));
  std::vector<Original> all;
  while (true) {
    INFERMETER_TRY(const bool row, statement.step());
    if (!row) return all;
    all.push_back({.id = statement.text(0), .created_at = statement.real(1)});
  }
}

std::string id_at(double seconds, int number) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}-{:04x}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, number & 0xffff);
}

// One part in five hundred up and down; the last tenth is a tenth slower in every third run.
double factor_of(int number, int count, int originals) {
  const double wobble = 1 + 0.002 * ((number / originals * 7 % 11) - 5) / 5.0;
  return number > count * 9 / 10 && number % originals % 3 == 0 ? wobble * 1.1 : wobble;
}

Result<Done> copy(const Database& database, const Original& from, const std::string& id, double created_at, int machine,
                  double factor) {
  static const std::string run =
      copy_of(runs_table, "id", {{"id", "?1"}, {"created_at", "?3"}}, ", has_figures, trials_done");
  static const std::string figures = copy_of(
      figures_table, "run",
      {{"run", "?1"}, {"created_at", "?3"}, {"value", "value * ?4"}, {"low", "low * ?4"}, {"high", "high * ?4"}});
  static const std::string elsewhere = copy_of(figures_table, "run",
                                               {{"run", "?1"},
                                                {"created_at", "?3"},
                                                {"value", "value * ?4"},
                                                {"low", "low * ?4"},
                                                {"high", "high * ?4"},
                                                {"machine", "?5"}});
  static const std::string sealed = fmt::format("UPDATE runs SET {} WHERE id = ?1", seal(listed_columns));
  const std::string_view to = id, original = from.id;
  INFERMETER_TRY_DONE(database.run(run, to, original, created_at));
  INFERMETER_TRY_DONE(database.run(sealed, to));
  for (const auto* table : {&trials_table, &side_trials_table, &outputs_table, &accuracy_table}) {
    INFERMETER_TRY_DONE(database.run(copy_of(*table, "run", {{"run", "?1"}}), to, original));
  }
  if (machine == 0) return database.run(figures, to, original, created_at, factor);
  return database.run(elsewhere, to, original, created_at, factor, std::string_view(fmt::format("{:016x}", machine)));
}

Result<Done> fill(const StorePlace& place, int count, int machines) {
  INFERMETER_TRY(const auto database, open(place));
  INFERMETER_TRY(const auto from, originals(*database));
  if (from.empty()) return usage_error("there is no finished run to copy");
  double created_at = from.back().created_at;
  for (int i = 0; i < count;) {
    INFERMETER_TRY(auto transaction, Transaction::begin(*database));
    for (const int end = std::min(count, i + runs_per_transaction); i < end; ++i) {
      const int number = static_cast<int>(from.size());
      created_at += seconds_apart;
      INFERMETER_TRY_DONE(copy(*database, from[static_cast<std::size_t>(i % number)], id_at(created_at, i), created_at,
                               i / number % machines, factor_of(i, count, number)));
    }
    INFERMETER_TRY_DONE(transaction.commit());
  }
  return Done{};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: many_runs PLACE RUNS [MACHINES]\n", stderr), 2;
  const auto place = StorePlace::from_text(argv[1]);
  const int count = std::atoi(argv[2]), machines = argc > 3 ? std::max(1, std::atoi(argv[3])) : 10;
  const auto filled = place.ok() ? fill(*place, count, machines) : Result<Done>(place.error());
  if (filled.ok()) return 0;
  std::fprintf(stderr, "many_runs: %s\n", filled.error().message.c_str());
  return 1;
}
