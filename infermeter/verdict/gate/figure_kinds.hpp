// The figures that an expectation can name, and the units that each can be written in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/verdict/gate/expectation.hpp"

namespace infermeter {

struct FigureUnit {
  std::string_view name;    // "ms"
  std::string_view suffix;  // "_ms" of latency_p50_ms; empty: none
  Dimension dimension{};
  double times = 1, over = 1;  // to the base unit; 12 / 1e3 is the double nearest to 0.012, and 12 * 1e-3 need not be

  [[nodiscard]] double in_base(double number) const { return number * times / over; }
};

struct FigureKind {
  std::string_view name;  // without its unit: "latency_p50"
  std::string_view also;  // another name of it; empty: none
  Expectation::Kind kind{};
  std::string_view metric;  // Expectation::name of it; empty: as it was written
  Dimension dimension{};
};

struct NamedFigure {
  const FigureKind* figure = nullptr;
  const FigureUnit* unit = nullptr;  // as the name says; null: it says none
};

// "latency_p50_ms", "latency_p50". nullopt: no such figure.
[[nodiscard]] std::optional<NamedFigure> find_figure(std::string_view name);
// All names, as they are suggested: "latency_p50_ms", …
[[nodiscard]] std::vector<std::string> figure_names();

[[nodiscard]] const FigureUnit* find_unit(Dimension dimension, std::string_view name);
[[nodiscard]] std::string unit_names(Dimension dimension);  // "ns, us, ms or s"; empty: there are none

}  // namespace infermeter
