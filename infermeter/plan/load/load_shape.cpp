#include "infermeter/plan/load/load_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "infermeter/plan/quantity.hpp"
#include "infermeter/text/ascii.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

struct ScenarioName {
  LoadScenario scenario;
  std::string_view name;
};
constexpr auto kScenarios = std::to_array<ScenarioName>({{LoadScenario::single_stream, "single-stream"},
                                                         {LoadScenario::multi_stream, "multi-stream"},
                                                         {LoadScenario::server, "server"},
                                                         {LoadScenario::offline, "offline"},
                                                         {LoadScenario::closed, "closed"},
                                                         {LoadScenario::open, "open"}});

struct SpinName {
  Spin spin;
  std::string_view name;
};
constexpr auto kSpins = std::to_array<SpinName>({{Spin::automatic, "auto"}, {Spin::on, "on"}, {Spin::off, "off"}});

Result<Spin> spin_from_string(std::string_view text) {
  const auto* const found = std::ranges::find(kSpins, text, &SpinName::name);
  if (found != kSpins.end()) return found->spin;
  return usage_error(fmt::format("expected auto, on or off, got {}", in_quotes(text)));
}

Result<LoadScenario> scenario_from_string(std::string_view text) {
  const auto* const found = std::ranges::find(kScenarios, text, &ScenarioName::name);
  if (found != kScenarios.end()) return found->scenario;
  return usage_error(
      fmt::format("expected single-stream, multi-stream, server, offline, closed or open, got {}", in_quotes(text)));
}

// What was said, before it is known what it means together.
struct Said {
  std::optional<LoadScenario> scenario{};
  std::optional<double> rate{};
  std::optional<int> concurrency{};
  std::optional<Arrivals> arrivals{};
  std::optional<std::int64_t> samples{};
  std::optional<LoadObjective> find_rate{};
  std::optional<GoodputBounds> goodput{};
  std::optional<Spin> spin{};
};

// What a response time can be asked for, and which of its percentiles that is.
struct Percentile {
  std::string_view name;
  double share;
};
constexpr auto kPercentiles = std::to_array<Percentile>({{"response_p50", 0.5},
                                                         {"response_p90", 0.9},
                                                         {"response_p95", 0.95},
                                                         {"response_p99", 0.99},
                                                         {"response_p99_9", 0.999}});

Result<LoadObjective> objective_from_string(std::string_view text) {
  constexpr std::string_view at_most = "<=";
  const std::size_t sign = text.find(at_most);
  const std::string_view name = trimmed(text.substr(0, sign));
  const auto* const found = std::ranges::find(kPercentiles, name, &Percentile::name);
  if (sign == std::string_view::npos || found == kPercentiles.end()) {
    return usage_error(fmt::format(
        "expected 'response_p99 <= 50ms' (or p50, p90, p95, p99_9, and another time), got {}", in_quotes(text)));
  }
  INFERMETER_TRY(const double bound_s, seconds_from_string(trimmed(text.substr(sign + at_most.size()))));
  if (bound_s > 0) return LoadObjective{found->share, bound_s};
  return usage_error(fmt::format("a response time of at most 0 cannot be: {}", in_quotes(text)));
}

Result<Done> take(Said& said, std::string_view key, std::string_view value) {
  if (key == "scenario") {
    INFERMETER_TRY(said.scenario, scenario_from_string(value));
  } else if (key == "rate") {
    INFERMETER_TRY(said.rate, rate_from_string(value));
  } else if (key == "concurrency") {
    INFERMETER_TRY(const std::int64_t clients, integer_from_string(value, 1, kMostInFlight));
    said.concurrency = static_cast<int>(clients);
  } else if (key == "arrivals") {
    INFERMETER_TRY(said.arrivals, arrivals_from_string(value));
  } else if (key == "samples") {
    INFERMETER_TRY(said.samples, integer_from_string(value, 1, 1'000'000));
  } else if (key == "find_rate") {
    INFERMETER_TRY(said.find_rate, objective_from_string(value));
  } else if (key == "goodput") {
    INFERMETER_TRY(said.goodput, goodput_from_string(value));
  } else if (key == "spin") {
    INFERMETER_TRY(said.spin, spin_from_string(value));
  } else {
    return usage_error(
        "there is no such key; there are scenario, rate, concurrency, arrivals, samples, find_rate, goodput, spin");
  }
  return Done{};
}

LoadScenario scenario_of(const Said& said) {
  if (said.scenario) return *said.scenario;
  if (said.rate || said.arrivals || said.find_rate) return LoadScenario::open;
  return said.samples ? LoadScenario::multi_stream : LoadScenario::closed;
}

Result<Done> check_rate(const LoadShape& shape, const Said& said) {
  const std::string_view name = to_string(shape.scenario);
  if (!shape.is_open()) {
    if (said.find_rate) return usage_error(fmt::format("{} has no rate that could be found: leave it out", name));
    if (said.spin) return usage_error(fmt::format("{} waits for no arrival: leave spin out, or take server", name));
    if (said.rate || said.arrivals) {
      return usage_error(fmt::format("{} has no {}: its clients wait for their answers; leave it out, or take server",
                                     name, said.rate ? "rate" : "arrivals"));
    }
    return Done{};
  }
  if (said.find_rate) {
    if (!said.rate && !shape.arrivals.has_rates()) return Done{};
    return usage_error("--find-rate searches for the rate: leave out --rate, and arrivals that set a rate");
  }
  if (shape.arrivals.has_rates()) {
    if (!said.rate) return Done{};
    return usage_error("these arrivals say how many requests come per second: leave the rate out");
  }
  if (said.rate) return Done{};
  return usage_error(fmt::format("{} needs a rate, in requests per second: --rate 40", name));
}

Result<Done> check_together(const LoadShape& shape, const Said& said) {
  const std::string_view name = to_string(shape.scenario);
  if (shape.scenario == LoadScenario::server && said.arrivals && said.arrivals->kind != Arrivals::Kind::poisson) {
    return usage_error("server has Poisson arrivals: leave arrivals or the scenario out");
  }
  if (shape.scenario == LoadScenario::single_stream && said.concurrency.value_or(1) != 1) {
    return usage_error(
        fmt::format("single-stream has one request in flight, not {}: leave the scenario out", *said.concurrency));
  }
  if (said.samples && shape.scenario != LoadScenario::multi_stream) {
    return usage_error(fmt::format("{} has one inference to a request: leave samples out, or take multi-stream", name));
  }
  if (said.goodput && said.goodput->needs_parts() && shape.scenario == LoadScenario::multi_stream) {
    return usage_error("a request of multi-stream is several answers: goodput has response alone there");
  }
  return check_rate(shape, said);
}

}  // namespace

std::string_view to_string(LoadScenario scenario) {
  return std::ranges::find(kScenarios, scenario, &ScenarioName::scenario)->name;
}

Result<LoadShape> load_shape_from_pairs(const Pairs& load) {
  Said said;
  std::set<std::string_view> seen;
  for (const auto& [key, value] : load) {
    if (!seen.insert(key).second) return usage_error(fmt::format("load.{} is given twice", key));
    if (const auto taken = take(said, key, value); !taken)
      return usage_error(fmt::format("load.{}: {}", printable(key, 60), taken.error().message));
  }
  LoadShape shape{.scenario = scenario_of(said)};
  if (said.arrivals) shape.arrivals = *said.arrivals;
  INFERMETER_TRY_DONE(check_together(shape, said));
  const bool is_one = shape.scenario == LoadScenario::single_stream || shape.scenario == LoadScenario::closed;
  shape.concurrency = said.concurrency.value_or(is_one ? 1 : 0);
  shape.rate = said.rate.value_or(0);
  shape.find_rate = said.find_rate;
  shape.goodput = said.goodput;
  shape.spin = said.spin.value_or(Spin::automatic);
  shape.samples = said.samples.value_or(shape.scenario == LoadScenario::multi_stream ? kMultiStreamSamples : 1);
  return shape;
}

}  // namespace infermeter
