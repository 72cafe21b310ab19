#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>

#include "infermeter/stats/changes/steady_state.hpp"
#include "simulation/blocks.hpp"

namespace infermeter::study {
namespace {

constexpr std::size_t iterations = 200;  // of a first pilot
constexpr double deviation = 0.01;       // of an iteration

// What comes on top of a level, by iteration, and where it ends.
struct Shape {
  Times logs = Times(iterations, 0.0);
  std::size_t steady = 0;
};

double uniform_between(SplitMix& random, double low, double high) { return low + (high - low) * random.uniform(); }
std::size_t position(SplitMix& random, double low, double high) {
  return static_cast<std::size_t>(uniform_between(random, low, high));
}

// Slower by 10 … 50 % at first; straight or exponentially down within 15 … 80 iterations.
Shape ramp(SplitMix& random) {
  Shape shape{.steady = position(random, 15, 80)};
  const double height = uniform_between(random, 0.1, 0.5);
  const bool straight = random.uniform() < 0.5;
  const auto length = static_cast<double>(shape.steady);
  for (std::size_t i = 0; i < iterations; ++i) {
    const double way = static_cast<double>(i) / length;
    const double left = straight ? std::max(0.0, 1 - way) : std::exp(-5 * way);
    shape.logs[i] = height * left;
  }
  return shape;
}

Shape step(SplitMix& random, double sign) {
  Shape shape{.steady = position(random, 10, 140)};
  const double height = sign * deviation * uniform_between(random, 3, 15);
  std::fill_n(shape.logs.begin(), shape.steady, height);
  return shape;
}

// Two levels, 3 … 15 standard deviations apart, in turn for 12 … 30 iterations each.
Shape cycle(SplitMix& random) {
  Shape shape{.steady = iterations};
  const std::size_t half = position(random, 12, 31);
  const double height = deviation * uniform_between(random, 3, 15);
  const std::size_t start = position(random, 0, 2.0 * static_cast<double>(half));
  for (std::size_t i = 0; i < iterations; ++i) shape.logs[i] = (i + start) / half % 2 == 0 ? height : 0;
  return shape;
}

// A step in the last quarter.
Shape late(SplitMix& random) {
  Shape shape{.steady = iterations};
  const double height = deviation * uniform_between(random, 3, 15) * (random.uniform() < 0.5 ? 1 : -1);
  std::fill(shape.logs.begin() + static_cast<std::ptrdiff_t>(position(random, 155, 185)), shape.logs.end(), height);
  return shape;
}

// Two levels in turn, for fewer iterations each than a segment has at least.
Shape quick_cycle(SplitMix& random) {
  Shape shape{.steady = iterations};
  const std::size_t half = position(random, 3, 9);
  const double height = deviation * uniform_between(random, 3, 15);
  for (std::size_t i = 0; i < iterations; ++i) shape.logs[i] = i / half % 2 == 0 ? height : 0;
  return shape;
}

// Every iteration with probability 0.02 slower by 10 … 100 %.
Shape spikes(SplitMix& random) {
  Shape shape;
  for (double& log : shape.logs) log = random.uniform() < 0.02 ? std::log1p(uniform_between(random, 0.1, 1)) : 0;
  return shape;
}

std::vector<double> times_of(const Shape& shape, double autocorrelation, SplitMix& random) {
  std::vector<double> times_s;
  const double fresh = std::sqrt(1 - autocorrelation * autocorrelation);
  double state = random.normal();
  for (const double log : shape.logs) {
    times_s.push_back(0.01 * std::exp(log + deviation * state));
    state = autocorrelation * state + fresh * random.normal();
  }
  return times_s;
}

bool begins_within_five(const Shape& shape, std::size_t begin) {
  return std::abs(static_cast<double>(begin) - static_cast<double>(shape.steady)) <= 5;
}

// What is left of the ramp moves the mean of all that is taken for steady by so little.
bool leaves_next_to_nothing(const Shape& shape, std::size_t begin) {
  if (begin >= iterations) return false;
  const double left = std::accumulate(shape.logs.begin() + static_cast<std::ptrdiff_t>(begin), shape.logs.end(), 0.0);
  return left / static_cast<double>(iterations - begin) <= 0.002;
}

struct Kind {
  std::string name;
  std::function<Shape(SplitMix&)> shape;
  SteadyClass expected;
  double autocorrelation = 0;
  Target target = {};
  std::string begin = {};  // what is asked of the begin of the steady state
  std::function<bool(const Shape&, std::size_t)> begins_well = {};
  Target begin_target = {};
};

constexpr Target nearly_all = at_least(0.95);

std::vector<Kind> kinds() {
  const auto none = [](SplitMix&) { return Shape{}; };
  const auto up = [](SplitMix& random) { return step(random, 1); };
  const auto down = [](SplitMix& random) { return step(random, -1); };
  const std::string near = "begin at most 5 iterations off";
  return {
      {"flat", none, SteadyClass::flat, 0, nearly_all},
      {"ramps", ramp, SteadyClass::warmup, 0, nearly_all, "what is left moves the mean by at most 0.2 %",
       leaves_next_to_nothing},
      {"steps", up, SteadyClass::warmup, 0, nearly_all, near, begins_within_five, nearly_all},
      {"slowdowns", down, SteadyClass::slowdown, 0, nearly_all, near, begins_within_five, nearly_all},
      {"cycles", cycle, SteadyClass::no_steady_state, 0, nearly_all},
      {"late changes", late, SteadyClass::no_steady_state, 0, nearly_all},
      {"flat, autocorrelation 0.5", none, SteadyClass::flat, 0.5},
      {"flat, 2 % of the iterations slower by 10 to 100 %", spikes, SteadyClass::flat},
      {"steps, autocorrelation 0.5", up, SteadyClass::warmup, 0.5, {}, near, begins_within_five},
      {"cycles of 3 to 8 iterations a level, taken for noise", quick_cycle, SteadyClass::flat},
  };
}

struct WarmUpOutcome {
  int right = 0;
  int begins_well = 0;
};

void add_warm_up(const Kind& kind, const Effort& effort, Table& table) {
  int right = 0;
  int begins_well = 0;
  for (const WarmUpOutcome& outcome : simulate(effort, "warm-up " + kind.name, [&](SplitMix& random) {
         const Shape shape = kind.shape(random);
         const SteadyState found = find_steady_state(times_of(shape, kind.autocorrelation, random));
         const bool well = kind.begins_well && kind.begins_well(shape, found.begin);
         return WarmUpOutcome{found.kind == kind.expected ? 1 : 0, well ? 1 : 0};
       })) {
    right += outcome.right;
    begins_well += outcome.begins_well;
  }
  table.figures.push_back(rate(kind.name + ": class", "", kind.target, right, effort.runs));
  if (!kind.begins_well) return;
  table.figures.push_back(rate(kind.name + ": " + kind.begin, "", kind.begin_target, begins_well, effort.runs));
}

}  // namespace

Block warm_up(const Effort& effort) {
  Block block{.number = 7,
              .title = "Warm-up",
              .question = "Is warm-up distinguished from slowdowns, cycles and late changes, and where does it end?",
              .text = {},
              .tables = {}};
  block.text =
      "Pilots of 200 iterations that vary by 1 %. Steps, slowdowns, cycles and late changes are of 3 to 15 standard "
      "deviations, wherever a class allows them to be; ramps of 10 to 50 %. Cycles quicker than a segment of PELT, 10 "
      "iterations, are one level with more spread.";
  Table table{.caption = "What find_steady_state makes of them", .figures = {}, .across = false};
  for (const Kind& kind : kinds()) add_warm_up(kind, effort, table);
  block.tables.push_back(std::move(table));
  return block;
}

}  // namespace infermeter::study
