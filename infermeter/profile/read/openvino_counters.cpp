// What OpenVINO's benchmark_app writes with -report_type: of each inference request a table of the plug-in's counters,
// which are means since the model was compiled and the same for all requests but for when they were read.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "infermeter/profile/read/imported_profile.hpp"
#include "infermeter/profile/read/json_events.hpp"
#include "infermeter/profile/read/profile_events.hpp"
#include "infermeter/profile/stacks/stack_table.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

constexpr double longest_ms = 1e9;
constexpr std::size_t most_counters = 100'000;
constexpr std::string_view header_begin = "layerName;execStatus;layerType;execType;realTime (ms);";

struct Row {
  std::string_view name, status, kind, kernel;
  std::optional<double> milliseconds;
};

std::optional<double> counter_time(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_time = error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0 &&
                       value <= longest_ms;
  return is_time ? std::optional(value) : std::nullopt;
}

// "jit_avx512_f32": of a kernel's name the end.
std::string precision_in(std::string_view kernel) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"f32", "float32"},  {"f16", "float16"},  {"bf16", "bfloat16"}, {"f64", "float64"},
      {"i8", "int8"},      {"u8", "uint8"},     {"I8", "int8"},       {"U8", "uint8"},
      {"FP32", "float32"}, {"FP16", "float16"}, {"i32", "int32"},     {"i64", "int64"}};
  const std::string_view end = kernel.substr(kernel.find_last_of('_') + 1);
  for (const auto& [theirs, ours] : names)
    if (end == theirs) return std::string(ours);
  return {};
}

// The means over requests.
class RequestMeans {
 public:
  // False: there are more operators than any model has.
  bool add(const Row& row) {
    // "EXECUTED", of the Python program "Status.EXECUTED"; the others, folded or optimised away, took no time.
    if (!row.status.ends_with("EXECUTED") || !row.milliseconds) return true;
    const std::size_t which = seen_[std::pair(std::string(row.name), std::string(row.kind))]++;
    const auto [at, is_new] =
        known_.try_emplace({std::string(row.name), std::string(row.kind), which}, operators_.size());
    if (is_new) {
      if (operators_.size() >= most_counters) return false;
      ProfiledOperator& op = operators_.emplace_back();
      op.name = valid_utf8(row.name);
      op.kind = valid_utf8(row.kind);
      op.kernel = valid_utf8(row.kernel);
      op.precision = precision_in(row.kernel);
    }
    request_.emplace_back(at->second, *row.milliseconds * 1e-3);
    return true;
  }

  // What was added since the last one is one request. One that is cut counts only where it is the first.
  void end_request(bool is_whole) {
    if (is_whole || requests_ == 0) {
      ++requests_;
      sums_.resize(operators_.size());
      for (const auto& [op, seconds] : request_) sums_[op] += seconds;
    }
    operators_.resize(sums_.size());
    request_.clear();
    seen_.clear();
  }

  Result<SelfTimedProfile> take(bool cut) {
    if (operators_.empty())
      return io_error(
          "OpenVINO's counters contain no operator that was executed (of average_counters the Python benchmark_app "
          "writes "
          "the first one only into JSON: take its CSV, or detailed_counters)");
    OperatorProfile profile;
    profile.operators = std::move(operators_);
    for (const double sum : sums_) profile.mean_s.push_back(sum / static_cast<double>(requests_));
    profile.mean_calls.assign(sums_.size(), 1);
    profile.cut = cut;
    std::string detail = fmt::format(
        "OpenVINO's counters, by benchmark_app: means over all inferences, of {} request{}; what lies between "
        "operators is not reported",
        requests_, requests_ == 1 ? "" : "s");
    if (cut) detail += "; the file ends early";
    profile.sources = {{"operators", true, std::move(detail)}};
    return from_means(std::move(profile));
  }

 private:
  std::map<std::tuple<std::string, std::string, std::size_t>, std::size_t> known_;
  std::map<std::pair<std::string, std::string>, std::size_t> seen_;  // in this request: names need not be unique
  std::vector<std::pair<std::size_t, double>> request_;              // operator, seconds
  std::vector<ProfiledOperator> operators_;
  std::vector<double> sums_;
  std::size_t requests_ = 0;
};

Error too_many() { return io_error(fmt::format("OpenVINO's counters have more than {} operators", most_counters)); }

// Taken off the end; nothing where there is no separator.
std::optional<std::string_view> take_last(std::string_view& line) {
  const std::size_t at = line.rfind(';');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view last = line.substr(at + 1);
  line = line.substr(0, at);
  return last;
}

// Only a name may hold the separator, so that fields are taken from the end. `after`: columns behind the time.
std::optional<Row> row_in(std::string_view line, std::size_t after) {
  for (std::size_t i = 0; i < after; ++i)
    if (!take_last(line)) return std::nullopt;
  const auto time = take_last(line), kernel = take_last(line), kind = take_last(line), status = take_last(line);
  if (!time || !kernel || !kind || !status) return std::nullopt;
  return Row{.name = line, .status = *status, .kind = *kind, .kernel = *kernel, .milliseconds = counter_time(*time)};
}

std::optional<double> time_at(const Json& node, const char* key) {
  const Json* value = value_at(node, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return counter_time(value->get_ref<const std::string&>());  // so the Python program
  if (!value->is_number()) return std::nullopt;
  const auto number = value->get<double>();
  return number >= 0 && number <= longest_ms ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<SelfTimedProfile> import_openvino_csv(std::string_view text) {
  RequestMeans means;
  std::optional<std::size_t> columns_after;  // the time; nullopt: outside of a table
  for (std::size_t number = 1; !text.empty(); ++number) {
    const TextLine line = take_line(text);
    if (line.text.starts_with(header_begin)) {
      if (columns_after) means.end_request(true);
      columns_after = static_cast<std::size_t>(std::ranges::count(line.text.substr(header_begin.size()), ';')) + 1;
    } else if (columns_after && line.text.starts_with("Total;;;;")) {
      means.end_request(true);
      columns_after.reset();
    } else if (columns_after && line.complete && !line.text.empty()) {
      const auto row = row_in(line.text, *columns_after);
      if (!row || !row->milliseconds)
        return io_error(fmt::format("line {} of OpenVINO's counters has no operator and time", number));
      if (!means.add(*row)) return too_many();
    }
  }
  if (columns_after) means.end_request(false);
  return means.take(columns_after.has_value());
}

Result<SelfTimedProfile> import_openvino_json(std::string_view json) {
  constexpr std::string_view list = "\"nodes\"";
  RequestMeans means;
  bool cut = false, is_full = false;
  for (std::size_t at = json.find(list); at != std::string_view::npos && !cut; at = json.find(list)) {
    json.remove_prefix(at);
    const ArrayScan scan = for_each_object(json, "nodes", [&](const Json& node) {
      is_full |= !means.add({.name = text_at(node, "name"),
                             .status = text_at(node, "status"),
                             .kind = text_at(node, "node_type"),
                             .kernel = text_at(node, "exec_type"),
                             .milliseconds = time_at(node, "real_time")});
    });
    if (is_full) return too_many();
    cut = scan.found && !scan.whole;
    if (scan.found) means.end_request(scan.whole);
    json.remove_prefix(std::max(scan.end, list.size()));
  }
  return means.take(cut);
}

}  // namespace infermeter
