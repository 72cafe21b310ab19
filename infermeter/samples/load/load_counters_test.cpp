#include "infermeter/samples/load/load_counters.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::load_counters_test {
namespace {

std::optional<double> value_of(const LoadRecord& record, std::string_view name) {
  const auto counters = load_counters(record);
  const auto found = std::ranges::find(counters, name, &Counter::name);
  return found == counters.end() ? std::nullopt : std::optional(found->value);
}

LoadRecord a_load() {
  LoadRecord record;
  record.open_loop = true;
  record.due = 110, record.issued = 110, record.completed = 100, record.failed = 10;
  record.arrivals_s = 11, record.duration_s = 12.5;
  for (std::uint32_t ticks = 1; ticks <= 100; ++ticks) record.response.counts.emplace_back(ticks, 1);
  record.response.tick_s = 0.01;
  record.lag = {0.001, {{0, 99}, {7, 1}}};
  record.timeline = {{.in_flight = 3}, {.in_flight = 6}, {}};
  return record;
}

TEST(LoadCounters, SayWhatTheRecordSays) {
  const LoadRecord record = a_load();
  EXPECT_EQ(value_of(record, "offered_rate"), 10);
  EXPECT_EQ(value_of(record, "achieved_rate"), 8);
  EXPECT_EQ(value_of(record, "samples_rate"), std::nullopt);
  EXPECT_EQ(value_of(record, "response_p50"), 0.5);
  EXPECT_EQ(value_of(record, "response_p99"), 0.99);
  EXPECT_EQ(value_of(record, "response_p99_9"), 1);
  EXPECT_EQ(value_of(record, "response_max"), 1);
  EXPECT_EQ(value_of(record, "lag_p50"), 0);
  EXPECT_EQ(value_of(record, "service_p50"), std::nullopt);
  EXPECT_NEAR(*value_of(record, "in_flight_mean"), 8 * 0.505, 1e-12);
  EXPECT_EQ(value_of(record, "in_flight_max"), 6);
  EXPECT_EQ(value_of(record, "failed"), 10);
  EXPECT_NEAR(*value_of(record, "failed_share"), 1.0 / 11, 1e-15);
}

TEST(LoadCounters, RequestsOfSeveralSamplesHaveARateOfThem) {
  LoadRecord record = a_load();
  record.samples = 4;
  EXPECT_EQ(value_of(record, "samples_rate"), 32);
  EXPECT_EQ(inferences_per_s(record), 32);
}

TEST(LoadCounters, AClosedLoopOffersNoRate) {
  LoadRecord record = a_load();
  record.open_loop = false;
  EXPECT_EQ(value_of(record, "offered_rate"), std::nullopt);
}

TEST(LoadCounters, OfALoadWithoutRequestsOnlyFailuresAreTold) {
  const auto counters = load_counters({});
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0].name, "failed");
}

TEST(LoadCounters, GoodRequestsAreOfThoseThatWereDue) {
  LoadRecord record = a_load();
  record.due = 50;
  record.duration_s = 4;
  EXPECT_EQ(value_of(record, "goodput"), std::nullopt);
  record.good = 20;
  EXPECT_EQ(value_of(record, "goodput"), 5);
  EXPECT_EQ(value_of(record, "goodput_share"), 0.4);
  record.good = 0;
  EXPECT_EQ(value_of(record, "goodput"), 0);
}

TEST(LoadCounters, HaveNamesOfTheList) {
  LoadRecord record = a_load();
  record.samples = 2;
  record.service = record.late = record.response;
  record.max_rate = 40;
  record.good = record.completed;
  std::vector<LoadFigure> figures(load_figures().begin(), load_figures().end());
  std::erase_if(figures, [](const LoadFigure& figure) { return figure.of_generation; });
  const auto counters = load_counters(record);
  ASSERT_EQ(counters.size(), figures.size());
  for (std::size_t i = 0; i < counters.size(); ++i) EXPECT_EQ(counters[i].name, figures[i].name);
  EXPECT_FALSE(load_figure("achieved_rate")->lower_is_better);
  EXPECT_TRUE(load_figure("response_p99")->lower_is_better);
  EXPECT_EQ(load_figure("nonsense"), nullptr);
}

}  // namespace
}  // namespace infermeter::load_counters_test
