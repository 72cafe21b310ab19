#include "infermeter/profile/read/imported_profile.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "infermeter/profile/read/stack_readers.hpp"
#include "infermeter/profile/stacks/stack_table.hpp"

namespace infermeter {
namespace {

constexpr std::string_view spaces = " \t\r\n";
constexpr std::size_t lines_looked_at = 200;

// The strings before a colon at depth 1 of a JSON object that may be anything, until `use` says that it is enough.
template <class Use>
void for_each_key(std::string_view json, Use use) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (c != '"') continue;
    const std::size_t begin = i + 1;
    for (++i; i < json.size() && json[i] != '"'; ++i) i += json[i] == '\\' ? 1 : 0;
    if (depth != 1 || i >= json.size()) continue;
    const std::size_t colon = json.find_first_not_of(spaces, i + 1);
    if (colon == std::string_view::npos || json[colon] != ':') continue;
    if (use(json.substr(begin, i - begin))) return;
  }
}

std::optional<ProfileFormat> format_of_object(std::string_view json) {
  std::optional<ProfileFormat> found;
  for_each_key(json, [&](std::string_view key) {
    if (key == "traceEvents") found = ProfileFormat::torch;
    if (key == "detailed_performance" || key == "avg_performance") found = ProfileFormat::openvino_json;
    if (key == "operators" || key == "format") found = ProfileFormat::operators;
    return found.has_value();
  });
  return found;
}

bool has_counters(std::string_view text) {
  for (std::size_t line = 0; line < lines_looked_at && !text.empty(); ++line) {
    if (take_line(text).text.starts_with("layerName;execStatus;")) return true;
  }
  return false;
}

// What it is instead, where that can be seen.
std::string_view what_else(std::string_view bytes) {
  if (bytes.empty()) return "it is empty";
  if (bytes.starts_with("PERFILE2"))
    return "it is perf's own file: `perf script -i FILE > FILE.txt` writes one that is";
  if (bytes.starts_with("layerName,")) {
    return "it is benchmark_app's sorted table: -report_type average_counters writes one that is";
  }
  return "it is none of those that are";
}

template <class Read>
Result<ImportedProfile> timed(ProfileFormat format, Read read) {
  INFERMETER_TRY(SelfTimedProfile profile, read());
  return ImportedProfile{.format = format, .timed = std::move(profile), .stacks = {}};
}

template <class Read>
Result<ImportedProfile> sampled(ProfileFormat format, Read read) {
  INFERMETER_TRY(StackProfile profile, read());
  return ImportedProfile{.format = format, .timed = {}, .stacks = std::move(profile)};
}

}  // namespace

std::string_view name_of(ProfileFormat format) {
  switch (format) {
    case ProfileFormat::onnxruntime: return "ONNX Runtime's profile";
    case ProfileFormat::torch: return "torch.profiler's trace";
    case ProfileFormat::openvino_csv:
    case ProfileFormat::openvino_json: return "OpenVINO's counters";
    case ProfileFormat::operators: return "operators.json";
    case ProfileFormat::perf_script: return "output of perf script";
    case ProfileFormat::collapsed: return "collapsed stacks";
  }
  return "";
}

std::optional<ProfileFormat> format_of_profile(std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view content = bytes.substr(begin);
  if (content.front() == '{') return format_of_object(content);
  // Collapsed stacks may begin with "[unknown];main 3".
  if (is_collapsed_stacks(bytes)) return ProfileFormat::collapsed;
  if (content.front() == '[') {
    const std::size_t first = content.find_first_not_of(spaces, 1);
    const bool is_list = first == std::string_view::npos || content[first] == '{' || content[first] == ']';
    return is_list ? std::optional(ProfileFormat::onnxruntime) : std::nullopt;
  }
  if (has_counters(bytes)) return ProfileFormat::openvino_csv;
  if (is_perf_script(bytes)) return ProfileFormat::perf_script;
  return std::nullopt;
}

Result<ImportedProfile> import_profile(std::string_view bytes, const ModelGraph* compiled) {
  const auto format = format_of_profile(bytes);
  if (!format) {
    return usage_error(
        fmt::format("it is not a profile that can be read: {} (ONNX Runtime's or torch.profiler's JSON, "
                    "OpenVINO's counters, operators.json, perf script, collapsed stacks), nor does it hold times of "
                    "hyperfine, Google Benchmark, criterion, pytest-benchmark, perf_analyzer, AIPerf or trtexec",
                    what_else(bytes)));
  }
  switch (*format) {
    case ProfileFormat::onnxruntime: return timed(*format, [&] { return import_onnxruntime_profile(bytes, compiled); });
    case ProfileFormat::torch: return timed(*format, [&] { return import_torch_trace(bytes); });
    case ProfileFormat::openvino_csv: return timed(*format, [&] { return import_openvino_csv(bytes); });
    case ProfileFormat::openvino_json: return timed(*format, [&] { return import_openvino_json(bytes); });
    case ProfileFormat::operators: return timed(*format, [&] { return import_operators(bytes); });
    case ProfileFormat::perf_script: return sampled(*format, [&] { return parse_perf_script(bytes); });
    case ProfileFormat::collapsed: return sampled(*format, [&] { return parse_collapsed_stacks(bytes); });
  }
  return internal_error("unknown format of a profile");
}

}  // namespace infermeter
