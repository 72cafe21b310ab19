// What is written down elsewhere about the figures of fidelity/difference_figures.hpp.
#include "infermeter/fidelity/difference_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "infermeter/report/test_golden.hpp"

namespace infermeter {
namespace {

std::string quoted_for_script(std::string_view text) { return nlohmann::json(text).dump(); }

// What the document has of them: its types come from the schemas.
std::string picked(std::string_view declared, bool of_samples) {
  std::vector<std::string> ids;
  for (const DifferenceFigure& figure : difference_figures()) {
    if (figure.of_samples == of_samples) ids.push_back(quoted_for_script(figure.id));
  }
  return fmt::format("export type {} = Pick<OutputDifference, {}>;\n", declared, fmt::join(ids, " | "));
}

std::string_view unit_of_column(DifferenceFigure::Unit unit) {
  switch (unit) {
    case DifferenceFigure::Unit::number: return "";
    case DifferenceFigure::Unit::decibels: return "dB";
    case DifferenceFigure::Unit::share: return "share";
  }
  return "";
}

std::string rows_of(std::string_view declared, std::string_view type, bool of_samples) {
  std::string text = fmt::format("\nexport const {}: {}[] = [\n", declared, type);
  for (const DifferenceFigure& figure : difference_figures()) {
    if (figure.page == DifferenceFigure::Page::none || figure.of_samples != of_samples) continue;
    const std::string_view measure = figure.page_measure.empty() ? figure.page_title : figure.page_measure;
    text += fmt::format("  {{ id: {}, title: {}, measure: {}, likeness: {}, unit: {}, hidden: {} }},\n",
                        quoted_for_script(figure.id), quoted_for_script(figure.page_title), quoted_for_script(measure),
                        figure.reading == DifferenceFigure::Reading::likeness,
                        quoted_for_script(unit_of_column(figure.unit)), figure.page == DifferenceFigure::Page::hidden);
  }
  return text + "];\n";
}

TEST(DifferenceFigures, AreThoseOfThePage) {
  const std::string page =
      "// Made from infermeter/fidelity/difference_figures.cpp: INFERMETER_APPROVE=1 infermeter_report_test "
      "--gtest_filter='DifferenceFigures.*'\n"
      "import type { OutputDifference } from \"./document.ts\";\n\n" +
      picked("SampleFigures", true) + picked("WholeFigures", false) +
      R"(
export interface DifferenceFigure<Figures> {
  id: keyof Figures & string;
  title: string;
  measure: string; // of an axis
  likeness: boolean; // more is better
  unit: "" | "dB" | "share";
  hidden: boolean; // until the reader switches it on
}

// Those that the page shows: of outputs and of single samples, and of outputs alone.)" +
      rows_of("sampleFigures", "DifferenceFigure<SampleFigures>", true) +
      rows_of("wholeFigures", "DifferenceFigure<WholeFigures>", false);
  test::expect_file("web/src/difference_figures.ts", page);
}

nlohmann::json schema_named(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(std::string(test::source_dir) + "/docs/schema/" + name + ".schema.json"));
}

// Every figure is a number or null, and always there; of samples, those that samples have and no others.
void expect_figures(const nlohmann::json& object, bool of_sample) {
  const auto& properties = object.at("properties");
  const auto required = object.at("required").get<std::vector<std::string>>();
  for (const DifferenceFigure& figure : difference_figures()) {
    const std::string id(figure.id);
    const bool wanted = !of_sample || figure.of_samples;
    EXPECT_EQ(properties.contains(id), wanted) << id;
    EXPECT_EQ(std::ranges::find(required, id) != required.end(), wanted) << id;
    if (wanted && properties.contains(id)) {
      EXPECT_EQ(properties[id].at("type"), nlohmann::json({"number", "null"})) << id;
    }
  }
}

TEST(DifferenceFigures, AreInTheSchemas) {
  expect_figures(schema_named("run").at("$defs").at("output_difference"), false);
  expect_figures(schema_named("validation").at("$defs").at("output_difference"), false);
  expect_figures(schema_named("validation").at("$defs").at("validation_sample"), true);
}

}  // namespace
}  // namespace infermeter
