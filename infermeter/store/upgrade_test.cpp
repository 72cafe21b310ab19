// Stores of older infermeters: read, brought up to date, completed.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <fstream>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/store/schema.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/store/test_records.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::upgrade_test {
namespace {

using test::TemporaryFolder;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void make_version(int version, const std::filesystem::path& file) {
  const std::string name = "version_" + std::to_string(version) + ".sql";
  const std::string sql = whole_file(std::filesystem::path(test::source_dir) / "infermeter/store/fixtures" / name);
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
  sqlite3_close(raw);
}

std::int64_t version_of(const std::filesystem::path& file) {
  const auto database = SqliteDatabase::open(file, SqliteDatabase::Access::read, {.limit_ms = 0}).value();
  return database.integer("PRAGMA user_version").value();
}

constexpr const char* run_id = "20261121-152203-1ae0";

TEST(Upgrade, AVersion1StoreIsReadAsItWas) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_version(1, file);
  auto store = Store::open(file, Store::Mode::write).value();
  const auto record = store.load_run("latest").value();
  EXPECT_EQ(record.id, run_id);
  EXPECT_TRUE(record.finished);
  EXPECT_EQ(record.plan.subjects.at(1).label, "fast");
  EXPECT_EQ(store.list_runs()->at(0).trials_done, 4);
  EXPECT_FALSE(record.plan.question);
  EXPECT_EQ(record.noise, std::nullopt);
  ASSERT_THAT(record.trials, SizeIs(4));
  EXPECT_THAT(record.trials, Each(Field(&Samples::purpose, Purpose::timed)));
  EXPECT_THAT(record.trials[0].begin_s, SizeIs(8));
  EXPECT_THAT(record.side_trials, IsEmpty());
  EXPECT_TRUE(record.outputs.at(0).comparison.agree);
  EXPECT_THAT(store.baselines().value(), IsEmpty());
  EXPECT_EQ(version_of(file), store_schema_version());
}

// Of the figures that outputs have had since then there is none, which is not 0.
TEST(Upgrade, AVersion2StoreIsReadAsItWas) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_version(2, file);
  EXPECT_EQ(version_of(file), 2);
  auto store = Store::open(file, Store::Mode::write).value();
  EXPECT_EQ(version_of(file), store_schema_version());
  const auto record = store.load_run("latest").value();
  ASSERT_TRUE(record.plan.question);
  EXPECT_EQ(record.plan.data.labels, "");
  EXPECT_THAT(record.trials, SizeIs(4));
  EXPECT_THAT(record.accuracy, IsEmpty());
  const OutputDifference& output = record.outputs.at(0).comparison.outputs.at(0);
  EXPECT_TRUE(output.within_tolerance);
  EXPECT_EQ(output.cosine, 1);
  EXPECT_EQ(output.mae, std::nullopt);
  EXPECT_EQ(output.psnr_db, std::nullopt);
  EXPECT_EQ(output.top5_agreement, std::nullopt);
  EXPECT_EQ(output.max_absolute_item, 0U);
  EXPECT_EQ(record.models.at(0).nonzero_parameters, std::nullopt);
  EXPECT_EQ(store.baseline_run("nightly").value(), record.id);
  EXPECT_THAT(store.figures({.metric = "latency_p50"}).value(), SizeIs(2));
  // And what is new can be kept.
  SubjectAccuracy accuracy{
      .subject = 1, .accuracy = {.output = "output", .labels = {}, .masks = {}}, .reference = 0, .paired = {}};
  accuracy.accuracy.labels = LabelAccuracy{.rows = 3, .top1 = 2, .top5 = {}, .classes = {}};
  ASSERT_TRUE(store.set_accuracy(record.id, accuracy).ok());
  EXPECT_EQ(store.load_run("latest")->accuracy.at(0).accuracy.labels->top1, 2U);
}

// Its records have no checksums: they are read as they are. What is written from now on has one.
TEST(Upgrade, AVersion4StoreIsReadAsItWas) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_version(4, file);
  EXPECT_EQ(version_of(file), 4);
  auto store = Store::open(file, Store::Mode::write).value();
  EXPECT_EQ(version_of(file), store_schema_version());
  const auto record = store.load_run("latest").value();
  EXPECT_TRUE(record.finished);
  EXPECT_THAT(record.trials, SizeIs(4));
  EXPECT_THAT(record.profiles, SizeIs(2));
  EXPECT_FALSE(record.outputs.at(0).comparison.agree);
  EXPECT_THAT(store.figures({.metric = "latency_p50"}).value(), SizeIs(2));
  EXPECT_EQ(store.complete_figures()->completed, 1);  // as percentiles are made otherwise now
  EXPECT_EQ(store.complete_figures()->completed, 0);
  EXPECT_THAT(store.figures({.metric = "latency_p50"}).value(), SizeIs(2));
  const auto database = SqliteDatabase::open(file, SqliteDatabase::Access::write, {}).value();
  EXPECT_EQ(database.integer("SELECT count(checksum) FROM trials").value(), 0);
  ASSERT_TRUE(store.set_baseline("nightly", "latest", 1).ok());
  EXPECT_EQ(database.integer("SELECT count(checksum) FROM baselines").value(), 1);
}

TEST(Upgrade, EveryModeBringsAFileUpToDate) {
  for (const auto mode : {Store::Mode::read, Store::Mode::write, Store::Mode::write_if_possible}) {
    const TemporaryFolder folder;
    const auto file = folder / "infermeter.db";
    make_version(1, file);
    EXPECT_EQ(Store::open(file, mode).value().load_run("latest")->id, run_id);
    EXPECT_EQ(version_of(file), store_schema_version());
  }
}

TEST(Upgrade, FiguresOfOlderRunsAreMadeOnceAndKept) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_version(1, file);
  {
    auto store = Store::open(file, Store::Mode::write).value();
    EXPECT_THAT(store.figures({.metric = "latency_p50"}).value(), IsEmpty());
    EXPECT_EQ(store.complete_figures()->completed, 1);
    EXPECT_EQ(store.complete_figures()->completed, 0);
  }
  auto store = Store::open(file, Store::Mode::read).value();
  EXPECT_EQ(store.complete_figures()->completed, 0);
  const auto figures = store.figures({.metric = "latency_p50"}).value();
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_EQ(figures[0].series, "mlp@fake,latency=constant:1ms,work=sleep");
  EXPECT_EQ(figures[0].label, "fast");
  EXPECT_NEAR(figures[0].value, 1.06e-3, 0.1e-3);
  EXPECT_TRUE(figures[0].interval);
  EXPECT_EQ(figures[1].run, run_id);
}

TEST(Upgrade, FiguresThatCannotBeKeptAreMadeAllTheSame) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_version(1, file);
  {
    ASSERT_TRUE(Store::open(file, Store::Mode::write).ok());
  }
  auto store = Store::open(file, Store::Mode::read).value();
  EXPECT_EQ(store.complete_figures()->completed, 1);
  EXPECT_EQ(store.complete_figures()->completed, 0);
  EXPECT_THAT(store.figures({.metric = "latency_p50"}).value(), SizeIs(2));
  EXPECT_THAT(store.list_series({.metric = "latency_p50"}).value(), SizeIs(2));
  EXPECT_EQ(store.list_machines({.metric = "latency_p50"}).value().at(0).processor, "AMD EPYC");
  auto other = Store::open(file, Store::Mode::read).value();
  EXPECT_THAT(other.figures({.metric = "latency_p50"}).value(), IsEmpty());
}

TEST(Upgrade, RunsThatCannotBeReadAreNamedAndLeftOut) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_version(1, file);
  auto store = Store::open(file, Store::Mode::write).value();
  {
    const auto database = SqliteDatabase::open(file, SqliteDatabase::Access::write, {.limit_ms = 0}).value();
    ASSERT_TRUE(database.run("UPDATE runs SET plan = '['").ok());
  }
  const auto completion = store.complete_figures().value();
  EXPECT_EQ(completion.completed, 0);
  EXPECT_THAT(completion.unreadable, ElementsAre(run_id));
}

TEST(Upgrade, WhereThereIsNoStoreNoneIsMade) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  EXPECT_THAT(Store::open(file, Store::Mode::write_if_possible).error().message,
              AllOf(HasSubstr("there is no store"), HasSubstr("--output-dir")));
  EXPECT_FALSE(std::filesystem::exists(file));
  std::ofstream(file).flush();
  EXPECT_FALSE(Store::open(file, Store::Mode::write_if_possible).ok());
  EXPECT_EQ(std::filesystem::file_size(file), 0U);
}

}  // namespace
}  // namespace infermeter::upgrade_test
