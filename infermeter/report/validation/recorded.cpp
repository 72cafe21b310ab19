// Outputs held against recorded ones: a line for each, and the same for programs.
#include <fmt/format.h>

#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/report/validation/report.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

std::string recorded_line(const OutputDifference& output) {
  std::string line = fmt::format("  {}  {} {}  ", printable(output.name), output.dtype, to_string(output.shape));
  if (!output.comparable) return line + "not comparable: " + printable(output.reason) + "\n";
  line +=
      output.within_tolerance ? "agrees" : fmt::format("differs in {} of {}", output.mismatched, output.element_count);
  if (output.max_absolute) line += fmt::format(", largest difference {:.3g}", *output.max_absolute);
  if (!output.within_tolerance && output.max_absolute) {
    line += fmt::format(" at {} (recorded {:.6g}, got {:.6g})",
                        place_text(output.max_absolute_index, output.shape, output.dtype), output.reference_at_max,
                        output.candidate_at_max);
  }
  if (output.relative_l2) line += fmt::format(", relative L2 {:.3g}", *output.relative_l2);
  return line + "\n";
}

std::string recorded_text(const RecordedValidation& validation) {
  std::string text;
  for (const RecordedSet& set : validation.sets) {
    text += fmt::format("{}: {}\n", printable(set.folder), set.outputs.agree ? "agrees" : "DIFFERS");
    for (const OutputDifference& output : set.outputs.outputs) text += recorded_line(output);
    for (const Diagnostic& diagnostic : set.outputs.diagnostics) {
      text += fmt::format("  {}: {}\n", to_string(diagnostic.id), printable(diagnostic.message));
    }
  }
  return text;
}

std::string recorded_json(const RecordedValidation& validation) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "infermeter.recorded/1");
  json.member("agree", validation.agree());
  json.key("sets");
  json.begin_array();
  for (const RecordedSet& set : validation.sets) {
    json.begin_object();
    json.member("data", set.folder);
    json.member("agree", set.outputs.agree);
    json.key("outputs");
    json.begin_array();
    for (const OutputDifference& output : set.outputs.outputs) write_output_difference(json, output);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take() + '\n';
}

}  // namespace

std::string render_recorded(const RecordedValidation& validation, Format format) {
  return format == Format::json ? recorded_json(validation) : recorded_text(validation);
}

}  // namespace infermeter
