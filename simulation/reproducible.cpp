#include <functional>
#include <string>

#include "simulation/blocks.hpp"
#include "simulation/document.hpp"

namespace infermeter::study {
namespace {

using ReproducibleBlock = std::function<Block(const Effort&)>;

int differing(const std::vector<ReproducibleBlock>& blocks, const Effort& one, const Effort& other) {
  int differ = 0;
  for (const ReproducibleBlock& block : blocks) differ += markdown_of(block(one)) == markdown_of(block(other)) ? 0 : 1;
  return differ;
}

}  // namespace

Block reproducible(const Families& families, const Effort& effort) {
  const std::vector<ReproducibleBlock> blocks = {
      [&](const Effort& e) { return false_alarms(families, e); },
      [&](const Effort& e) { return power(families, e); },
      [&](const Effort& e) { return coverage(families, e); },
      [&](const Effort& e) { return open_ended(families, e); },
      [&](const Effort& e) { return gate(families, e); },
      [&](const Effort& e) { return history(e); },
      [&](const Effort& e) { return warm_up(e); },
  };
  const Effort few{10, effort.seed, 1};
  const auto figure = [&](std::string what, const Effort& other) {
    return Figure{.what = std::move(what),
                  .where = {},
                  .target = at_most(0),
                  .unit = Unit::count,
                  .measured = static_cast<double>(differing(blocks, few, other)),
                  .interval = {},
                  .runs = few.runs};
  };
  Block block{.number = 8,
              .title = "Reproducibility",
              .question = "Do the same seed and the same data give the same bytes?",
              .text = {},
              .tables = {}};
  block.text =
      "Blocks 1 to 7 with a few runs each, made twice and compared byte by byte. Results are kept by run and each run "
      "draws from a generator of its own, so that threads change nothing.";
  block.tables.push_back({.caption = "Blocks that differ",
                          .figures = {figure("made again", few), figure("with three threads", {few.runs, few.seed, 3})},
                          .across = false});
  return block;
}

}  // namespace infermeter::study
