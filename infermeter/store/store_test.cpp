#include "infermeter/store/store.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "infermeter/diagnostics/json_fields.hpp"
#include "infermeter/plan/plan_file.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/store/record_json.hpp"
#include "infermeter/store/test_places.hpp"
#include "infermeter/store/test_records.hpp"

namespace infermeter::store_test {
namespace {

using test::outputs_at;
using test::record_named;
using test::TemporaryFolder;
using test::trial_at;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Store writable(const StorePlace& place) { return Store::open(place, Store::Mode::write).value(); }

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a[i]), std::bit_cast<std::uint64_t>(b[i]));
}

void expect_equal(const Samples& a, const Samples& b) {
  EXPECT_EQ(samples_to_json(a), samples_to_json(b));
  expect_same_bits(a.begin_s, b.begin_s);
  expect_same_bits(a.end_s, b.end_s);
  expect_same_bits(a.warmup_begin_s, b.warmup_begin_s);
  expect_same_bits(a.warmup_end_s, b.warmup_end_s);
}

void expect_equal(const RunRecord& a, const RunRecord& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.created_at, b.created_at);
  EXPECT_EQ(a.finished, b.finished);
  EXPECT_EQ(plan_to_json(a.plan), plan_to_json(b.plan));
  EXPECT_EQ(environment_to_json(a.environment), environment_to_json(b.environment));
  EXPECT_EQ(models_to_json(a.models), models_to_json(b.models));
  EXPECT_EQ(diagnostics_to_json(a.diagnostics), diagnostics_to_json(b.diagnostics));
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (std::size_t i = 0; i < a.trials.size(); ++i) expect_equal(a.trials[i], b.trials[i]);
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    EXPECT_EQ(a.outputs[i].subject, b.outputs[i].subject);
    EXPECT_EQ(a.outputs[i].reference, b.outputs[i].reference);
    EXPECT_EQ(comparison_to_json(a.outputs[i].comparison), comparison_to_json(b.outputs[i].comparison));
  }
}

std::vector<std::byte> bytes_of_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class StoreOn : public test::OnEachStore {};
INFERMETER_ON_EACH_STORE(StoreOn);

TEST_P(StoreOn, GivesBackWhatItWasGiven) {
  RunRecord record = record_named("20261121-114200-3f9a");
  {
    auto store = writable(place);
    ASSERT_TRUE(store.begin_run(record).ok());
    for (int i = 0; i < 4; ++i) {
      record.trials.push_back(trial_at(i, i == 3 ? TrialEnd::crashed : TrialEnd::ok));
      ASSERT_TRUE(store.add_trial(record.id, record.trials.back()).ok());
    }
    record.outputs = {outputs_at(1)};
    ASSERT_TRUE(store.set_outputs(record.id, record.outputs[0]).ok());
    record.finished = true;
    record.diagnostics.push_back({DiagnosticId::trial_failed, "crashed", "b"});
    ASSERT_TRUE(store.finish_run(record).ok());
    expect_equal(store.load_run("latest").value(), record);
  }
  auto store = Store::open(place, Store::Mode::read);
  ASSERT_TRUE(store.ok()) << store.error().message;
  expect_equal(store->load_run(record.id).value(), record);
}

TEST(Store, KeepsEveryFieldOfModelsAndComparisons) {
  const auto models = models_from_json(models_to_json(record_named("a").models)).value();
  EXPECT_EQ(models[0].size_bytes, ~std::uint64_t{0});
  EXPECT_EQ(models[0].parameters, std::nullopt);
  EXPECT_EQ(models[1].parameters, std::optional<std::uint64_t>(0));
  EXPECT_THAT(models[1].weight_files, ElementsAre("/m/w"));
  EXPECT_TRUE(models[1].from_zoo);
  const auto comparison = comparison_from_json(comparison_to_json(outputs_at(1).comparison)).value();
  const auto& output = comparison.outputs.at(0);
  EXPECT_TRUE(std::isnan(output.max_absolute.value()));
  EXPECT_EQ(output.reference_at_max, HUGE_VAL);
  EXPECT_EQ(output.candidate_at_max, -HUGE_VAL);
  EXPECT_EQ(output.cosine, 1.0 / 3);
  EXPECT_EQ(output.relative_l2, std::nullopt);
  EXPECT_THAT(output.shape, ElementsAre(2, -1));
  EXPECT_EQ(output.tolerance.absolute, 1e-7);
  EXPECT_EQ(comparison.items, 3U);
}

TEST_P(StoreOn, KeepsAccuracyAndReplacesItWhenItIsPaired) {
  auto store = Store::open(place, Store::Mode::write).value();
  RunRecord record = record_named("run");
  ASSERT_TRUE(store.begin_run(record).ok());
  SubjectAccuracy labels{
      .subject = 1, .accuracy = {.output = "scores", .labels = {}, .masks = {}}, .reference = 0, .paired = {}};
  labels.accuracy.labels =
      LabelAccuracy{.rows = 7,
                    .top1 = 5,
                    .top5 = 6,
                    .classes = {{.label = 2, .rows = 3, .right = 1}, {.label = 9, .rows = 4, .right = 4}}};
  SubjectAccuracy masks{
      .subject = 0, .accuracy = {.output = "mask", .labels = {}, .masks = {}}, .reference = {}, .paired = {}};
  masks.accuracy.masks =
      MaskAccuracy{.pixels = 100, .right = 80, .classes = {{.label = 0, .both = 60, .truth = 70, .predicted = 65}}};
  ASSERT_TRUE(store.set_accuracy("run", labels).ok());
  ASSERT_TRUE(store.set_accuracy("run", masks).ok());
  labels.paired = PairedRight{.both = 4, .reference_only = 2, .candidate_only = 1, .neither = 0};
  ASSERT_TRUE(store.set_accuracy("run", labels).ok());
  const auto kept = store.load_run("run").value().accuracy;
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].accuracy.output, "mask");
  EXPECT_FALSE(kept[0].reference);
  EXPECT_FALSE(kept[0].accuracy.labels);
  EXPECT_EQ(kept[0].accuracy.masks->right, 80U);
  EXPECT_EQ(kept[0].accuracy.masks->classes.at(0).predicted, 65U);
  EXPECT_EQ(kept[0].accuracy.masks->classes.at(0).truth, 70U);
  EXPECT_EQ(kept[0].accuracy.masks->classes.at(0).both, 60U);
  EXPECT_EQ(kept[1].reference, 0);
  EXPECT_EQ(kept[1].accuracy.labels->top5, 6U);
  EXPECT_EQ(kept[1].accuracy.labels->classes.at(1).label, 9);
  EXPECT_EQ(kept[1].accuracy.labels->classes.at(0).right, 1U);
  EXPECT_EQ(kept[1].paired->reference_only, 2U);
  EXPECT_EQ(kept[1].paired->candidate_only, 1U);
}

TEST(Store, KeepsTheLossesOfTextsAndWhereAnswersPart) {
  SubjectAccuracy accuracy{.subject = 0, .accuracy = {}, .reference = {}, .paired = {}};
  accuracy.text_losses = {1.0 / 3, 2, std::numeric_limits<double>::quiet_NaN()};
  const auto kept = accuracy_from_json(accuracy_to_json(accuracy)).value().text_losses;
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0], 1.0 / 3);
  EXPECT_TRUE(std::isnan(kept[2]));
  EXPECT_THAT(accuracy_to_json({.accuracy = {}, .reference = {}, .paired = {}}), Not(HasSubstr("text_losses")));
  OutputComparison comparison;
  comparison.outputs.emplace_back().partings = {
      {.item = 2, .position = 5, .length = 9, .before = {1, 2}, .reference = {3}, .candidate = {4, 5}}};
  const std::string text = comparison_to_json(comparison);
  const auto partings = comparison_from_json(text).value().outputs[0].partings;
  ASSERT_EQ(partings.size(), 1U);
  EXPECT_EQ(partings[0].item, 2U);
  EXPECT_EQ(partings[0].position, 5U);
  EXPECT_EQ(partings[0].length, 9U);
  EXPECT_THAT(partings[0].before, ElementsAre(1, 2));
  EXPECT_THAT(partings[0].candidate, ElementsAre(4, 5));
  EXPECT_FALSE(partings[0].before_text);
  std::string damaged = text;
  damaged.replace(damaged.find("\"position\":5"), 12, "\"position\":9");
  EXPECT_FALSE(comparison_from_json(damaged).ok());
  Parting& one = comparison.outputs[0].partings[0];
  one.before_text = "", one.candidate_text = "ä\xef\xbf\xbd";
  const Parting again = comparison_from_json(comparison_to_json(comparison)).value().outputs[0].partings[0];
  EXPECT_EQ(again.before_text, "");
  EXPECT_EQ(again.reference_text, std::nullopt);
  EXPECT_EQ(again.candidate_text, one.candidate_text);
  one.reference_text = std::string(kMostPartingText + 1, 'x');
  EXPECT_FALSE(comparison_from_json(comparison_to_json(comparison)).ok());
}

TEST(Store, AccuracyThatCannotBeIsDamage) {
  const char* sane = R"({"subject":0,"output":"y","labels":{"rows":3,"top1":2,"top5":3,"classes":[]},"masks":null,)"
                     R"("reference":null,"paired":[1,1,1,0],"text_losses":[1.5]})";
  ASSERT_TRUE(accuracy_from_json(sane).ok());
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = sane;
    text.replace(text.find(from), from.size(), to);
    return accuracy_from_json(text);
  };
  EXPECT_FALSE(with("\"top1\":2", "\"top1\":4").ok());
  EXPECT_FALSE(with("\"top5\":3", "\"top5\":4").ok());
  EXPECT_FALSE(with("[1,1,1,0]", "[-1,1,1,0]").ok());
  EXPECT_FALSE(with("[1,1,1,0]", "[18446744073709551615,1,1,0]").ok());
  EXPECT_FALSE(with("[1,1,1,0]", "[1,1]").ok());
  EXPECT_FALSE(with("[1.5]", "[-1.5]").ok());
  EXPECT_FALSE(with("[1.5]", "[\"1\"]").ok());
  EXPECT_FALSE(with("\"rows\":3", "\"rows\":3.5").ok());
}

// Every whole number in turn becomes `changed`.
void for_each_whole_number(Json& json, const std::function<void()>& look, const Json& changed) {
  if (json.is_structured()) {
    for (Json& element : json) for_each_whole_number(element, look, changed);
  } else if (json.is_number_integer()) {
    const Json whole = std::exchange(json, changed);
    look();
    json = whole;
  }
}

TEST(Store, WholeNumbersAreNeitherTruncatedNorWrapped) {
  SubjectAccuracy accuracy{.subject = 1, .accuracy = {}, .reference = 0, .paired = PairedRight{}};
  accuracy.accuracy.labels = LabelAccuracy{.rows = 7, .top1 = 5, .top5 = 6, .classes = {{}}};
  accuracy.accuracy.masks = MaskAccuracy{.pixels = 1, .right = 1, .classes = {{}}};
  OutputComparison comparison = outputs_at(1).comparison;
  comparison.outputs[0].partings = {{.item = 2, .length = 9}};
  const MachineNoise noise{.subject = "a", .metric = "latency", .pairs = 4};
  int looked_at = 0;
  const auto refuses = [&](const std::string& text, auto read) {
    ASSERT_TRUE(read(text).ok()) << text;
    Json json = Json::parse(text);
    for (const Json& changed : {Json(1.5), Json(18446744073709551616.0), Json("1")}) {
      const auto look = [&] {
        ++looked_at;
        EXPECT_FALSE(read(json.dump()).ok()) << json;
      };
      for_each_whole_number(json, look, changed);
    }
  };
  refuses(accuracy_to_json(accuracy), accuracy_from_json);
  refuses(comparison_to_json(comparison), comparison_from_json);
  refuses(noise_to_json(noise), noise_from_json);
  refuses(models_to_json(record_named("a").models), models_from_json);
  EXPECT_GT(looked_at, 3 * 30);
  const std::string wrapped =
      R"({"measured_at":1,"subject":"a","metric":"m","pairs":4294967297,"standard_deviation":1})";
  EXPECT_EQ(noise_from_json(wrapped).error().message,
            "the record of the machine's noise cannot be read: 'pairs' should be a whole number from -2147483648 to "
            "2147483647 but is 4294967297");
}

TEST_P(StoreOn, KeepsOutputBlocksUntilTheRunIsFinished) {
  auto store = writable(place);
  RunRecord record = record_named("a");
  ASSERT_TRUE(store.begin_run(record).ok());
  EXPECT_EQ(store.output_block("a", 0).value(), std::nullopt);
  ASSERT_TRUE(store.keep_output_block("a", 0, bytes_of_text("first")).ok());
  ASSERT_TRUE(store.keep_output_block("a", 0, bytes_of_text("second")).ok());
  ASSERT_TRUE(store.keep_output_block("a", 1, {}).ok());
  EXPECT_EQ(store.output_block("a", 0).value(), bytes_of_text("second"));
  EXPECT_EQ(store.output_block("a", 1).value(), std::vector<std::byte>());
  ASSERT_TRUE(store.finish_run(record).ok());  // not finished yet
  EXPECT_NE(store.output_block("a", 0).value(), std::nullopt);
  record.finished = true;
  ASSERT_TRUE(store.finish_run(record).ok());
  EXPECT_EQ(store.output_block("a", 0).value(), std::nullopt);
}

TEST_P(StoreOn, KeepsTheTraceOfAProfilersOwnAsItIs) {
  auto store = writable(place);
  const RunRecord record = record_named("run");
  ASSERT_TRUE(store.begin_run(record).ok());
  OperatorProfile with, without;
  with.position = 3;
  with.own_trace = std::string("\x1f\x8b\0\xff", 4);
  without.position = 4;
  for (const auto& profile : {with, without}) ASSERT_TRUE(store.add_profile("run", profile).ok());
  const auto read = store.load_run("run").value();
  ASSERT_EQ(read.profiles.size(), 2U);
  EXPECT_EQ(read.profiles[0].own_trace, with.own_trace);
  EXPECT_EQ(read.profiles[1].own_trace, "");
}

TEST_P(StoreOn, ReplacesOnlyInterruptedTrials) {
  auto store = writable(place);
  ASSERT_TRUE(store.begin_run(record_named("a")).ok());
  ASSERT_TRUE(store.add_trial("a", trial_at(0, TrialEnd::interrupted)).ok());
  ASSERT_TRUE(store.add_trial("a", trial_at(0)).ok());
  EXPECT_THAT(store.add_trial("a", trial_at(0)).error().message, HasSubstr("trial 0 of run a is in the store"));
  const auto record = store.load_run("a").value();
  ASSERT_EQ(record.trials.size(), 1U);
  EXPECT_EQ(record.trials[0].end, TrialEnd::ok);
}

TEST_P(StoreOn, RefusesWhatDoesNotFit) {
  auto store = writable(place);
  ASSERT_TRUE(store.begin_run(record_named("a")).ok());
  EXPECT_THAT(store.begin_run(record_named("a")).error().message, HasSubstr("run a is in the store"));
  EXPECT_FALSE(store.add_trial("no such run", trial_at(0)).ok());
  EXPECT_THAT(store.finish_run(record_named("b")).error().message, HasSubstr("run b is not in the store"));
}

TEST_P(StoreOn, FindsRunsByIdBeginningAndLatest) {
  auto store = writable(place);
  EXPECT_THAT(store.load_run("latest").error().message, HasSubstr("contains no runs yet"));
  for (const auto& [id, at] : {std::pair{"20261121-2", 2.0}, {"20261121-1", 1.0}, {"20261121", 3.0}, {"x'y", 0.5}}) {
    ASSERT_TRUE(store.begin_run(record_named(id, at)).ok());
  }
  EXPECT_EQ(store.load_run("latest")->id, "x'y");         // stored last, whatever its clock said
  EXPECT_EQ(store.load_run("previous")->id, "20261121");  // stored before it
  EXPECT_EQ(store.load_run("20261121")->id, "20261121");  // itself, although it begins others
  EXPECT_EQ(store.load_run("20261121-1")->id, "20261121-1");
  EXPECT_EQ(store.load_run("x'")->id, "x'y");
  EXPECT_THAT(store.load_run("2026").error().message,
              AllOf(HasSubstr("beginning of 3 runs"), HasSubstr("20261121-2, 20261121-1, 20261121")));
  EXPECT_THAT(store.load_run("zz\n").error().message,
              AllOf(HasSubstr("no run 'zz?'"), HasSubstr("`infermeter runs`"), HasSubstr("'latest' is x'y")));
  EXPECT_FALSE(store.load_run("").ok());
  EXPECT_EQ(store.load_run("2026").error().kind, ErrorKind::usage);
}

TEST_P(StoreOn, ListsRuns) {
  auto store = writable(place);
  EXPECT_THAT(store.list_runs().value(), IsEmpty());
  ASSERT_TRUE(store.begin_run(record_named("b", 2)).ok());
  ASSERT_TRUE(store.begin_run(record_named("a", 1)).ok());
  ASSERT_TRUE(store.add_trial("b", trial_at(0)).ok());
  ASSERT_TRUE(store.add_trial("b", trial_at(1, TrialEnd::interrupted)).ok());
  const auto runs = store.list_runs().value();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1].id, "a");
  EXPECT_EQ(runs[0].trials_done, 1);
  EXPECT_EQ(runs[0].trials_planned, 4);
  EXPECT_FALSE(runs[0].finished);
  EXPECT_THAT(runs[0].labels, ElementsAre("a", "'; DROP TABLE runs; --"));
}

TEST(Store, IsOnDiskInFullWhenItSaysSo) {
  const TemporaryFolder folder;
  auto store = writable(folder / "infermeter.db");
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "infermeter.db").c_str(), &raw), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(raw, "PRAGMA journal_mode", -1, &statement, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
  EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)), "wal");
  sqlite3_finalize(statement);
  sqlite3_close(raw);
}

// What is in a file from elsewhere is executed with its queries.
TEST(Store, AStoreOfAnotherMakeIsRefusedBeforeAnyQuery) {
  const std::vector<std::pair<const char*, const char*>> changes = {
      {"ALTER TABLE runs RENAME TO hidden; CREATE VIEW runs AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
       "FROM c) SELECT n AS id, 0 AS created_at FROM c",
       "is not as infermeter makes it"},
      {"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END", "its trigger 't'"},
      {"CREATE VIEW pragma_user_version AS SELECT * FROM pragma_user_version", "its view 'pragma_user_version'"},
      {"CREATE INDEX i ON trials (hex(zeroblob(1000000)))", "its index 'i'"},
      {"DROP TABLE stacks", "its table 'stacks'"},
      {"ALTER TABLE peaks ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(1000000)))", "its table 'peaks'"}};
  for (const auto& [change, why] : changes) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "infermeter.db";
    {
      const Store store = writable(file);
    }
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, change, nullptr, nullptr, nullptr), SQLITE_OK) << change;
    sqlite3_close(handle);
    for (const auto mode : {Store::Mode::read, Store::Mode::write, Store::Mode::write_if_possible}) {
      const auto store = Store::open(file, mode);
      ASSERT_FALSE(store.ok()) << change;
      EXPECT_THAT(store.error().message, HasSubstr(why));
    }
  }
}

TEST(Store, TablesOfOthersInItAreLeftAlone) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "infermeter.db";
  {
    const Store store = writable(file);
  }
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, "CREATE TABLE notes (text); CREATE INDEX by_text ON notes (text); ANALYZE", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
  EXPECT_TRUE(Store::open(file, Store::Mode::write).ok());
}

TEST_P(StoreOn, ASignalEndsReading) {
  const std::atomic<int> interrupt = 1;
  {
    Store store = writable(place);
    const auto begin_many = [&]() -> Result<Done> {
      for (int i = 0; i < 600; ++i) INFERMETER_TRY_DONE(store.begin_run(record_named(std::to_string(i))));
      return Done{};
    };
    ASSERT_TRUE(store.together(begin_many).ok());
  }
  auto store = Store::open(place, Store::Mode::read, &interrupt);
  ASSERT_TRUE(store.ok()) << store.error().message;
  const auto runs = store->list_runs();
  ASSERT_FALSE(runs.ok());
  EXPECT_THAT(runs.error().message, HasSubstr("stopped while it read the store"));
}

}  // namespace
}  // namespace infermeter::store_test
