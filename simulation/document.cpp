#include "simulation/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

namespace infermeter::study {
namespace {

// 0 and not -0.
double tidy(double value, double step) { return std::abs(value) < step / 2 ? 0 : value; }

std::string number(double value, Unit unit) {
  switch (unit) {
    case Unit::share: return fmt::format("{:.1f}", tidy(100 * value, 0.1));
    case Unit::small_share: return fmt::format("{:.3f}", tidy(100 * value, 0.001));
    case Unit::pairs: return fmt::format("{:.1f}", value);
    case Unit::count: break;
  }
  return fmt::format("{:.0f}", value);
}

std::string limit(double value, Unit unit) {
  const bool is_share = unit == Unit::share || unit == Unit::small_share;
  return is_share ? fmt::format("{:g} %", 100 * value) : fmt::format("{:g}", value);
}

std::string words(const Target& target, Unit unit) {
  const bool bounded = std::isfinite(target.least) && std::isfinite(target.most);
  if (bounded && target.least == -target.most) return fmt::format("within ± {}", limit(target.most, unit));
  if (bounded) return fmt::format("{} … {}", limit(target.least, unit), limit(target.most, unit));
  if (std::isfinite(target.most)) return fmt::format("≤ {}", limit(target.most, unit));
  return std::isfinite(target.least) ? fmt::format("≥ {}", limit(target.least, unit)) : "–";
}

std::string value_with_unit(const Figure& figure) {
  const bool is_share = figure.unit == Unit::share || figure.unit == Unit::small_share;
  return number(figure.measured, figure.unit) + (is_share ? " %" : "");
}

std::string between_bounds(const Figure& figure) {
  if (!figure.interval) return "";
  return fmt::format("{} … {}", number(figure.interval->low, figure.unit), number(figure.interval->high, figure.unit));
}

std::string thousands(int count) {
  std::string digits = std::to_string(count);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string met(const Figure& figure) {
  if (!figure.target.exists()) return "";
  return figure.met() ? "yes" : "**missed**";
}

std::string listing(const Table& table) {
  const bool noises = std::ranges::any_of(table.figures, [](const Figure& f) { return !f.where.empty(); });
  std::string text =
      fmt::format("| what |{} target | measured | 95 % interval | runs | met |\n|---|{}---|---|---|---|---|\n",
                  noises ? " noise |" : "", noises ? "---|" : "");
  for (const Figure& figure : table.figures) {
    text += fmt::format("| {} |{} {} | {} | {} | {} | {} |\n", figure.what,
                        noises ? fmt::format(" {} |", figure.where) : "", words(figure.target, figure.unit),
                        value_with_unit(figure), between_bounds(figure), thousands(figure.runs), met(figure));
  }
  return text;
}

template <typename Name>
std::vector<std::string> distinct(const std::vector<Figure>& figures, const Name& name) {
  std::vector<std::string> names;
  for (const Figure& figure : figures) {
    if (std::ranges::find(names, figure.*name) == names.end()) names.push_back(figure.*name);
  }
  return names;
}

std::string cell(const Figure& figure, bool with_target) {
  const std::string target = with_target && figure.target.exists() ? ", " + words(figure.target, figure.unit) : "";
  const std::string missed = figure.target.exists() && !figure.met() ? " **missed**" : "";
  return fmt::format("{} ({}){}{}", value_with_unit(figure), between_bounds(figure), target, missed);
}

// A line says one target if all its figures have the same, else each its own.
std::string line(const Table& table, const std::string& what, const std::vector<std::string>& columns) {
  std::vector<std::string> targets;
  for (const Figure& figure : table.figures) {
    if (figure.what == what) targets.push_back(words(figure.target, figure.unit));
  }
  const bool one_for_all = std::ranges::adjacent_find(targets, std::ranges::not_equal_to()) == targets.end();
  std::vector<std::string> cells(columns.size());
  for (const Figure& figure : table.figures) {
    if (figure.what != what) continue;
    const auto column = std::ranges::find(columns, figure.where) - columns.begin();
    cells[static_cast<std::size_t>(column)] = cell(figure, !one_for_all);
  }
  std::string text = fmt::format("| {} | {} |", what, one_for_all ? targets.front() : "");
  for (const std::string& one : cells) text += fmt::format(" {} |", one);
  return text + "\n";
}

std::string grid(const Table& table) {
  const std::vector<std::string> columns = distinct(table.figures, &Figure::where);
  std::string text = "| what | target |";
  for (const std::string& column : columns) text += fmt::format(" {} |", column);
  text += "\n|---|---|";
  for (std::size_t i = 0; i < columns.size(); ++i) text += "---|";
  text += "\n";
  for (const std::string& what : distinct(table.figures, &Figure::what)) text += line(table, what, columns);
  return text;
}

// "2,000 runs each", or from … to.
std::string runs_of(const Table& table) {
  const auto [least, most] = std::ranges::minmax(table.figures, {}, &Figure::runs);
  if (least.runs == most.runs) return thousands(least.runs) + " runs each";
  return fmt::format("{} to {} runs each", thousands(least.runs), thousands(most.runs));
}

std::string markdown_of(const Table& table) {
  if (table.figures.empty()) return "";
  return table.across ? fmt::format("{} ({}):\n\n{}", table.caption, runs_of(table), grid(table))
                      : fmt::format("{}:\n\n{}", table.caption, listing(table));
}

struct Tally {
  int targets = 0;
  int missed = 0;
};

Tally tally(const Block& block) {
  Tally tally;
  for (const Table& table : block.tables) {
    for (const Figure& figure : table.figures) {
      tally.targets += figure.target.exists() ? 1 : 0;
      tally.missed += figure.met() ? 0 : 1;
    }
  }
  return tally;
}

// As Markdown makes it of a heading: "1. False alarms" -> "1-false-alarms".
std::string anchor(const Block& block) {
  std::string text = fmt::format("{}-{}", block.number, block.title);
  std::ranges::transform(text, text.begin(), [](char c) {
    if (c == ' ') return '-';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::string contents(const std::vector<Block>& blocks) {
  std::string text = "| block | shows | targets | missed |\n|---|---|---|---|\n";
  for (const Block& block : blocks) {
    const auto [targets, missed] = tally(block);
    text += fmt::format("| [{}. {}](#{}) | {} | {} | {} |\n", block.number, block.title, anchor(block), block.question,
                        targets, missed == 0 ? "none" : fmt::format("**{}**", missed));
  }
  return text;
}

std::string introduction(const Families& families, const Effort& effort, const std::vector<Block>& blocks) {
  std::string text = fmt::format(
      "# What verdicts are worth\n\n"
      "Simulated comparisons, histories and pilots whose truth is known, judged by the functions that infermeter "
      "itself "
      "calls ([how a verdict is reached](methodology.md)). Written by `make study` (seed {}); the same seed gives the "
      "same bytes, so do not edit it.\n\n{}\n"
      "A target is compared with the measured figure; the interval beside it is what the number of runs leaves open "
      "(for "
      "rates that of Wilson 1927). Lines without a target show what other ways would give, or what a reader may want "
      "to "
      "know.\n\n"
      "Comparisons are made of pairs of processes. What differs between processes is drawn from one of five "
      "families:\n\n",
      effort.seed, contents(blocks));
  for (const Family& family : families) text += fmt::format("- **{}**: {}.\n", family.name, family.description);
  return text +
         "\nWhere a way needs iterations, synthetic processes get 20 that vary by 2 % with an autocorrelation of 0.3; "
         "recorded ones have their own.\n";
}

}  // namespace

std::string markdown_of(const Block& block) {
  std::string text = fmt::format("\n## {}. {}\n{}\n", block.number, block.title, block.text);
  for (const Table& table : block.tables) text += "\n" + markdown_of(table);
  return text;
}

std::string document(const Families& families, const Effort& effort, const std::vector<Block>& blocks) {
  std::string text = introduction(families, effort, blocks);
  for (const Block& block : blocks) text += markdown_of(block);
  return text;
}

}  // namespace infermeter::study
