#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include "infermeter/stats/steady_state.hpp"
#include "study/blocks.hpp"

namespace infermeter::study {
namespace {

constexpr std::size_t iterations = 200;  // of a first pilot
constexpr double deviation = 0.01;       // of an iteration

// What comes on top of a level, by iteration, and where it ends.
struct Shape {
  Times logs = Times(iterations, 0.0);
  std::size_t steady = 0;
};

double between(SplitMix& random, double low, double high) { return low + (high - low) * random.uniform(); }
std::size_t position(SplitMix& random, double low, double high) {
  return static_cast<std::size_t>(between(random, low, high));
}

// Slower by 10 … 50 % at first; straight or exponentially down within 15 … 80 iterations.
Shape ramp(SplitMix& random) {
  Shape shape{.steady = position(random, 15, 80)};
  const double height = between(random, 0.1, 0.5);
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
  const double height = sign * deviation * between(random, 3, 15);
  std::fill_n(shape.logs.begin(), shape.steady, height);
  return shape;
}

// Two levels, 3 … 15 standard deviations apart, in turn for 12 … 30 iterations each.
Shape cycle(SplitMix& random) {
  Shape shape{.steady = iterations};
  const std::size_t half = position(random, 12, 31);
  const double height = deviation * between(random, 3, 15);
  const std::size_t start = position(random, 0, 2.0 * static_cast<double>(half));
  for (std::size_t i = 0; i < iterations; ++i) shape.logs[i] = (i + start) / half % 2 == 0 ? height : 0;
  return shape;
}

// A step in the last quarter.
Shape late(SplitMix& random) {
  Shape shape{.steady = iterations};
  const double height = deviation * between(random, 3, 15) * (random.uniform() < 0.5 ? 1 : -1);
  std::fill(shape.logs.begin() + static_cast<std::ptrdiff_t>(position(random, 155, 185)), shape.logs.end(), height);
  return shape;
}

std::vector<double> times_of(const Shape& shape, SplitMix& random) {
  std::vector<double> times_s;
  for (const double log : shape.logs) times_s.push_back(0.01 * std::exp(log + deviation * random.normal()));
  return times_s;
}

struct Kind {
  std::string name;
  std::function<Shape(SplitMix&)> shape;
  SteadyClass expected;
  bool has_edge;  // a step: there is one iteration where the steady state begins
};

std::vector<Kind> kinds() {
  return {
      {"flat", [](SplitMix&) { return Shape{}; }, SteadyClass::flat, false},
      {"ramps", ramp, SteadyClass::warmup, false},
      {"steps", [](SplitMix& random) { return step(random, 1); }, SteadyClass::warmup, true},
      {"slowdowns", [](SplitMix& random) { return step(random, -1); }, SteadyClass::slowdown, true},
      {"cycles", cycle, SteadyClass::no_steady_state, false},
      {"late changes", late, SteadyClass::no_steady_state, false},
  };
}

struct Outcome {
  int right = 0;
  int near = 0;
};

void add_figures(const Kind& kind, const Effort& effort, Table& table) {
  int right = 0;
  int near = 0;
  for (const Outcome& outcome : simulate(effort, "warm-up " + kind.name, [&](SplitMix& random) {
         const Shape shape = kind.shape(random);
         const SteadyState found = find_steady_state(times_of(shape, random));
         const double off = static_cast<double>(found.begin) - static_cast<double>(shape.steady);
         return Outcome{found.kind == kind.expected ? 1 : 0, std::abs(off) <= 5 ? 1 : 0};
       })) {
    right += outcome.right;
    near += outcome.near;
  }
  table.figures.push_back(rate(kind.name + ": class", "", at_least(0.95), right, effort.runs));
  if (!kind.has_edge) return;
  table.figures.push_back(rate(kind.name + ": begin at most 5 iterations off", "", at_least(0.95), near, effort.runs));
}

}  // namespace

Block warm_up(const Effort& effort) {
  Block block{.number = 7,
              .title = "Warm-up",
              .question = "Is warm-up told from slowdowns, cycles and late changes, and where does it end?",
              .text = {},
              .tables = {}};
  block.text =
      "Pilots of 200 iterations that vary by 1 %. Steps, slowdowns, cycles and late changes are of 3 to 15 standard "
      "deviations, wherever a class allows them to be; ramps of 10 to 50 %.";
  Table table{.caption = "What find_steady_state makes of them", .figures = {}, .across = false};
  for (const Kind& kind : kinds()) add_figures(kind, effort, table);
  block.tables.push_back(std::move(table));
  return block;
}

}  // namespace infermeter::study
