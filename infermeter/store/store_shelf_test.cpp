// Baselines, the noise of machines, and figures.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/store/store.hpp"
#include "infermeter/store/test_places.hpp"
#include "infermeter/store/test_records.hpp"
#include "infermeter/text/hash.hpp"

namespace infermeter::store_shelf_test {
namespace {

using test::record_named;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StoreShelf : public test::OnEachStore {
 protected:
  void finish(const std::string& id, double created_at, const std::function<void(RunRecord&)>& change = {}) {
    RunRecord record = record_named(id, created_at);
    record.plan.subjects[1].label = "b";
    for (auto& model : record.models) model.sha256 = "ab";
    for (int position = 0; position < 4; ++position) record.trials.push_back(timed(position));
    if (change) change(record);
    ASSERT_TRUE(store.begin_run(record).ok());
    record.finished = true;
    ASSERT_TRUE(store.finish_run(record).ok());
  }

  // Subject 0 takes 1 s, subject 1 takes 2 s.
  static Samples timed(int position) {
    Samples trial{.subject = position % 2, .process = position / 2, .position = position};
    for (int i = 0; i < 10; ++i) {
      trial.begin_s.push_back(10 * i);
      trial.end_s.push_back(10 * i + 1 + position % 2);
    }
    trial.executed = {{"runtime_version", "1.2"}};
    return trial;
  }

  Store store = Store::open(place, Store::Mode::write).value();
};
INFERMETER_ON_EACH_STORE(StoreShelf);

TEST_P(StoreShelf, ABaselineIsANameForAFinishedRun) {
  finish("run-1", 1);
  finish("run-2", 2);
  ASSERT_TRUE(store.begin_run(record_named("unfinished", 3)).ok());
  EXPECT_EQ(store.set_baseline("main", "latest", 10).error().kind, ErrorKind::usage);
  EXPECT_THAT(store.set_baseline("main", "unf", 10).error().message,
              AllOf(HasSubstr("run unfinished is not finished"), HasSubstr("--resume unfinished")));
  const auto kept = store.set_baseline("main", "run-1", 10).value();
  EXPECT_EQ(kept.run, "run-1");
  ASSERT_TRUE(store.set_baseline("a b 'c'", "run-2", 11).ok());
  EXPECT_EQ(store.baseline_run("main").value(), "run-1");
  EXPECT_EQ(store.load_run("main").value().id, "run-1");
  EXPECT_EQ(store.id_of_run("a b 'c'").value(), "run-2");
  ASSERT_TRUE(store.set_baseline("main", "run-2", 12).ok());
  const auto all = store.baselines().value();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].name, "a b 'c'");
  EXPECT_EQ(all[1].run, "run-2");
  EXPECT_EQ(all[1].set_at, 12);
  ASSERT_TRUE(store.remove_baseline("main").ok());
  EXPECT_THAT(store.baselines().value(), SizeIs(1));
}

TEST_P(StoreShelf, AnUnknownBaselineNamesTheNearestAndTheRemedy) {
  finish("run-1", 1);
  ASSERT_TRUE(store.set_baseline("main", "latest", 10).ok());
  for (const auto& error : {store.baseline_run("mian").error(), store.remove_baseline("mian").error()}) {
    EXPECT_EQ(error.kind, ErrorKind::usage);
    EXPECT_THAT(error.message, AllOf(HasSubstr("no baseline 'mian' (did you mean 'main'?)"),
                                     HasSubstr("`infermeter baseline set NAME RUN`")));
  }
}

TEST_P(StoreShelf, NamesOfBaselinesAreShortTextWithoutControls) {
  finish("run-1", 1);
  for (const std::string& bad : {std::string(), std::string(101, 'x'), std::string("a\nb"), std::string("a\0b", 3),
                                 std::string("\x7f"), std::string("\xc2\x9b"), std::string("\xff")}) {
    EXPECT_EQ(store.set_baseline(bad, "latest", 1).error().kind, ErrorKind::usage) << bad;
  }
  for (const std::string& good : {std::string(100, 'x'), std::string("grün, 2 €"), std::string("'; DROP TABLE runs")}) {
    ASSERT_TRUE(store.set_baseline(good, "latest", 1).ok());
    EXPECT_EQ(store.baseline_run(good).value(), "run-1");
  }
}

TEST_P(StoreShelf, KnowsTheLatestNoiseOfEachMachine) {
  finish("run-1", 1);
  finish("run-2", 2);
  EXPECT_EQ(store.latest_noise("m").value(), std::nullopt);
  const MachineNoise later{
      .measured_at = 5, .subject = "mlp@fake", .metric = "latency_p50", .pairs = 20, .standard_deviation = 0.1 + 0.2};
  MachineNoise earlier = later;
  earlier.measured_at = 4;
  ASSERT_TRUE(store.keep_noise("m", "run-1", later).ok());
  ASSERT_TRUE(store.keep_noise("m", "run-2", earlier).ok());
  ASSERT_TRUE(store.keep_noise("n", "run-2", earlier).ok());
  const auto found = store.latest_noise("m").value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->measured_at, 5);
  EXPECT_EQ(found->subject, "mlp@fake");
  EXPECT_EQ(found->metric, "latency_p50");
  EXPECT_EQ(found->pairs, 20);
  EXPECT_EQ(found->standard_deviation, 0.1 + 0.2);
  EXPECT_FALSE(store.keep_noise("m", "no such run", later).ok());
}

TEST_P(StoreShelf, AFinishedRunHasFigures) {
  RunRecord record = record_named("run-1", 7);
  record.trials = {timed(0)};
  ASSERT_TRUE(store.begin_run(record).ok());
  ASSERT_TRUE(store.finish_run(record).ok());  // not finished yet
  EXPECT_THAT(store.figures({.metric = "latency_p50"}).value(), IsEmpty());
  for (int position = 1; position < 4; ++position) record.trials.push_back(timed(position));
  record.finished = true;
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(store.finish_run(record).ok());
    const auto figures = store.figures({.metric = "latency_p50"}).value();
    ASSERT_THAT(figures, SizeIs(2));
    EXPECT_EQ(figures[0].run, "run-1");
    EXPECT_EQ(figures[0].created_at, 7);
    EXPECT_EQ(figures[0].series, "mlp@fake");
    EXPECT_EQ(figures[0].label, "a");
    EXPECT_EQ(figures[0].machine, machine_fingerprint(record.environment));
    EXPECT_DOUBLE_EQ(figures[0].value, 1);
    ASSERT_TRUE(figures[0].interval);
    EXPECT_EQ(figures[0].processes, 2);
    EXPECT_EQ(figures[0].runtime_version, "1.2");
    EXPECT_EQ(figures[0].model_sha256, "ab");
    EXPECT_EQ(figures[1].series, "mlp@fake,key=value");
  }
  EXPECT_EQ(store.complete_figures()->completed, 0);
}

TEST_P(StoreShelf, RunsOfOneSecondStayInOrder) {
  for (const char* id : {"c", "a", "b"}) finish(id, 1);
  std::vector<std::string> ids;
  const auto figures = store.figures({.metric = "latency_p50", .series = "mlp@fake"}).value();
  for (const Figure& figure : figures) ids.push_back(figure.run);
  EXPECT_THAT(ids, ElementsAre("c", "a", "b"));
  EXPECT_EQ(store.load_run("latest")->id, "b");
  EXPECT_EQ(store.list_runs()->at(1).id, "a");
}

// The wall clock may be set back between two runs; what came into the store last is the latest.
TEST_P(StoreShelf, LatestIsTheRunThatWasAddedLast) {
  finish("first", 200);
  finish("second", 100);
  EXPECT_EQ(store.load_run("latest")->id, "second");
  EXPECT_EQ(store.list_runs()->back().id, "second");
  ASSERT_TRUE(store.set_baseline("main", "latest", 300).ok());
  EXPECT_EQ(*store.baseline_run("main"), "second");
}

TEST_P(StoreShelf, FiguresAreFoundBySeriesMachineAndDate) {
  finish("run-1", 1);
  finish("run-2", 2, [](RunRecord& record) { record.environment.hostname = "box"; });
  finish("run-3", 3, [](RunRecord& record) {
    record.environment.kernel = "other";
    record.environment.hostname = "far";
  });
  const std::string machine = machine_fingerprint(record_named("x").environment);
  const auto runs = [&](const FigureQuery& query) {
    std::vector<std::string> ids;
    const auto figures = store.figures(query).value();
    for (const Figure& figure : figures) ids.push_back(figure.run);
    std::ranges::sort(ids);
    return ids;
  };
  EXPECT_THAT(runs({.metric = "latency_p50", .series = "mlp@fake"}), ElementsAre("run-1", "run-2", "run-3"));
  EXPECT_THAT(runs({.metric = "latency_p50", .series = "mlp@fake", .machine = machine}), ElementsAre("run-1", "run-2"));
  EXPECT_THAT(runs({.metric = "latency_p50", .series = "mlp@fake", .since = 2}), ElementsAre("run-2", "run-3"));
  EXPECT_THAT(runs({.metric = "latency_p50", .series = "mlp"}), IsEmpty());
  EXPECT_THAT(runs({.metric = "memory_peak"}), IsEmpty());

  const auto series = store.list_series({.metric = "latency_p50", .machine = machine}).value();
  ASSERT_THAT(series, SizeIs(2));
  EXPECT_EQ(series[0].series, "mlp@fake");
  EXPECT_THAT(series[0].labels, ElementsAre("a"));
  EXPECT_THAT(series[1].labels, ElementsAre("b"));

  const auto machines = store.list_machines({.metric = "latency_p50"}).value();
  ASSERT_THAT(machines, SizeIs(2));
  for (const auto& listed : machines) {
    EXPECT_EQ(listed.hostname, listed.machine == machine ? "box" : "far");
    EXPECT_EQ(listed.runs, listed.machine == machine ? 2 : 1);
  }
  EXPECT_EQ(machines[0].processor, "AMD EPYC");
}

// A server's index holds texts of 2.7 kB at most.
TEST_P(StoreShelf, LongNamesAreKeptAndToldApart) {
  std::string name;  // that no compression makes shorter
  for (std::uint64_t i = 0; name.size() < 5000; ++i) name += std::to_string(split_mix(i));
  for (const char* const last : {"x", "y"}) {
    finish(std::string("run-") + last, 1, [&](RunRecord& record) {
      record.plan.subjects[0].label = name + last;
      record.plan.subjects[0].options = {{"key", name + last}};
    });
  }
  const auto series = store.list_series({.metric = "latency_p50"}).value();
  ASSERT_THAT(series, SizeIs(3));
  EXPECT_NE(series[0].series, series[1].series);
  EXPECT_NE(series[0].labels, series[1].labels);
  EXPECT_EQ(store.load_run("run-x")->plan.subjects[0].label, name + "x") << "the run itself has all of it";
}

}  // namespace
}  // namespace infermeter::store_shelf_test
