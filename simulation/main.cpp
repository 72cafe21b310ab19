// infermeter_simulation: writes docs/statistics-study.md to stdout.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "infermeter/diagnostics/test_paths.hpp"

#include "simulation/document.hpp"

namespace infermeter::study {
namespace {

constexpr std::string_view usage = "usage: infermeter_simulation [RUNS] [SEED] [THREADS] >docs/statistics-study.md\n";

using AnyBlock = std::function<Block(const Families&, const Effort&)>;

std::vector<AnyBlock> all_blocks() {
  return {false_alarms,
          power,
          coverage,
          open_ended,
          gate,
          [](const Families&, const Effort& effort) { return history(effort); },
          [](const Families&, const Effort& effort) { return warm_up(effort); },
          reproducible,
          automatic,
          tuning};
}

Block timed(const AnyBlock& block, const Families& families, const Effort& effort) {
  const auto begin = std::chrono::steady_clock::now();
  Block made = block(families, effort);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  fmt::print(stderr, "{}. {}: {:.1f} s\n", made.number, made.title, taken.count());
  return made;
}

int study(const Effort& effort) {
  const auto families = five_families(infermeter::test::replays);
  if (!families) {
    fmt::print(stderr, "infermeter_simulation: {}\n", families.error().message);
    return 2;
  }
  std::vector<Block> blocks;
  for (const AnyBlock& block : all_blocks()) blocks.push_back(timed(block, *families, effort));
  fmt::print("{}", document(*families, effort, blocks));
  return 0;
}

}  // namespace
}  // namespace infermeter::study

int main(int count, char** words) {
  infermeter::study::Effort effort;
  effort.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto number = [&](int index, auto otherwise) {
    return count > index ? static_cast<decltype(otherwise)>(std::strtoll(words[index], nullptr, 10)) : otherwise;
  };
  effort.runs = number(1, effort.runs);
  effort.seed = number(2, effort.seed);
  effort.threads = number(3, effort.threads);
  if (count > 4 || effort.runs < 1 || effort.threads < 1) {
    fmt::print(stderr, "{}", infermeter::study::usage);
    return 2;
  }
  return infermeter::study::study(effort);
}
