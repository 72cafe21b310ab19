#include "infermeter/trial/load/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "infermeter/data/regular_file.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr double kLatestArrival = 1e7;              // seconds
constexpr std::int64_t kLongestText = 100'000'000;  // tokens

template <class Number>
std::optional<Number> whole_text(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view without_quotes(std::string_view word) {
  const std::size_t begin = word.find_first_not_of(" \r\"");
  if (begin == std::string_view::npos) return {};
  return word.substr(begin, word.find_last_not_of(" \r\"") - begin + 1);
}

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (;;) {
    const std::size_t end = line.find_first_of(",;\t");
    columns.push_back(without_quotes(line.substr(0, end)));
    if (end == std::string_view::npos) return columns;
    line.remove_prefix(end + 1);
  }
}

// Lines of a text, with their numbers.
class Lines {
 public:
  explicit Lines(std::string_view text) : left_(text) {}

  [[nodiscard]] std::optional<std::string_view> next() {
    if (left_.empty()) return std::nullopt;
    const std::size_t end = std::min(left_.find('\n'), left_.size());
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    ++number_;
    return line;
  }
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] Error wrong(std::string_view why) const {
    return usage_error(fmt::format("line {}: {}", number_, why));
  }

 private:
  std::string_view left_;
  std::size_t number_ = 0;
};

Result<Done> add_time(Trace& trace, const Lines& lines, double at_s) {
  if (!(at_s >= 0 && at_s <= kLatestArrival))
    return lines.wrong(fmt::format("{:g} is not from 0 to 1e7 seconds", at_s));
  if (!trace.times_s.empty() && at_s < trace.times_s.back())
    return lines.wrong(
        fmt::format("{:g} s comes before the arrival above it, {:g} s: sort the file", at_s, trace.times_s.back()));
  if (trace.times_s.size() == kMostTraceArrivals)
    return usage_error(fmt::format("it has more than {} arrivals", kMostTraceArrivals));
  trace.times_s.push_back(at_s);
  return Done{};
}

Result<Done> add_lengths(Trace& trace, const Lines& lines, std::optional<std::int64_t> prompt,
                         std::optional<std::int64_t> answer) {
  const auto is_length = [](const std::optional<std::int64_t>& length) {
    return length && *length >= 0 && *length <= kLongestText;
  };
  if (!is_length(prompt) || !is_length(answer))
    return lines.wrong("the lengths of prompt and answer are no numbers of tokens");
  trace.lengths.push_back({*prompt, *answer});
  return Done{};
}

// --- plain times ---------------------------------------------------------------------------------------------------

Result<Trace> read_times(std::string_view text) {
  Trace trace;
  Lines lines(text);
  while (const auto line = lines.next()) {
    const std::string_view word = columns_of(*line).front();
    if (word.empty()) continue;
    const auto at_s = whole_text<double>(word);
    if (!at_s && lines.number() == 1) continue;  // names of columns
    if (!at_s) return lines.wrong(fmt::format("expected seconds, got {}", in_quotes(word)));
    INFERMETER_TRY_DONE(add_time(trace, lines, *at_s));
  }
  return trace;
}

// --- Azure ---------------------------------------------------------------------------------------------------------

struct AzureColumns {
  std::size_t time = SIZE_MAX, prompt = SIZE_MAX, answer = SIZE_MAX;
};

std::optional<AzureColumns> azure_columns(std::string_view line) {
  const auto names = columns_of(line);
  AzureColumns columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "TIMESTAMP") columns.time = i;
    if (names[i] == "ContextTokens") columns.prompt = i;
    if (names[i] == "GeneratedTokens") columns.answer = i;
  }
  if (std::max({columns.time, columns.prompt, columns.answer}) == SIZE_MAX) return std::nullopt;
  return columns;
}

// A moment: whole seconds apart from their fraction, which a double of all of it would round.
struct Moment {
  std::int64_t seconds = 0;
  double fraction_s = 0;
};

// Of `count` digits from `at` on; -1: there are others.
int digits_at(std::string_view text, std::size_t at, std::size_t count) {
  const std::string_view part = text.substr(at, count);
  const bool are_digits = std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  return part.size() == count && are_digits ? whole_text<int>(part).value_or(-1) : -1;
}

// "2023-11-16 18:15:46.6805900", with a 'T' between, "+00:00" or 'Z' behind it, too; or seconds.
std::optional<Moment> moment_from(std::string_view text) {
  if (const auto seconds = whole_text<double>(text)) {
    if (!(*seconds >= 0 && *seconds <= 1e12)) return std::nullopt;
    const double whole = std::floor(*seconds);
    return Moment{static_cast<std::int64_t>(whole), *seconds - whole};
  }
  if (text.ends_with("+00:00")) text.remove_suffix(6);
  if (text.ends_with('Z')) text.remove_suffix(1);
  constexpr std::string_view form = "yyyy-mm-dd hh:mm:ss";
  if (text.size() < form.size() || (text[10] != ' ' && text[10] != 'T')) return std::nullopt;
  for (const std::size_t at : {4U, 7U, 13U, 16U})
    if (text[at] != form[at]) return std::nullopt;
  const int month = digits_at(text, 5, 2), day = digits_at(text, 8, 2);
  const int hour = digits_at(text, 11, 2), minute = digits_at(text, 14, 2), second = digits_at(text, 17, 2);
  const std::chrono::year_month_day date{std::chrono::year(digits_at(text, 0, 4)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const bool is_time = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  if (month < 0 || day < 0 || !date.ok() || !is_time) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  Moment moment{std::int64_t{days} * 86400 + hour * 3600 + minute * 60 + second, 0};
  const std::string_view rest = text.substr(form.size());
  if (rest.empty()) return moment;
  const auto fraction = whole_text<double>(rest);
  if (rest.front() != '.' || !fraction || !(*fraction >= 0 && *fraction < 1)) return std::nullopt;
  moment.fraction_s = *fraction;
  return moment;
}

Result<Trace> read_azure(std::string_view text, const AzureColumns& at) {
  Trace trace;
  Lines lines(text);
  std::optional<Moment> first;
  static_cast<void>(lines.next());
  while (const auto line = lines.next()) {
    const auto columns = columns_of(*line);
    if (columns.size() == 1 && columns.front().empty()) continue;
    if (columns.size() <= std::max({at.time, at.prompt, at.answer}))
      return lines.wrong("it has fewer columns than the first line");
    const auto moment = moment_from(columns[at.time]);
    if (!moment) return lines.wrong(fmt::format("expected a date or seconds, got {}", in_quotes(columns[at.time])));
    if (!first) first = moment;
    const double at_s =
        static_cast<double>(moment->seconds - first->seconds) + (moment->fraction_s - first->fraction_s);
    if (at_s < 0) return lines.wrong("it comes before the first arrival: sort the file");
    INFERMETER_TRY_DONE(add_time(trace, lines, at_s));
    INFERMETER_TRY_DONE(add_lengths(trace, lines, whole_text<std::int64_t>(columns[at.prompt]),
                                    whole_text<std::int64_t>(columns[at.answer])));
  }
  return trace;
}

// --- Mooncake ------------------------------------------------------------------------------------------------------

std::optional<nlohmann::json> object_in(std::string_view line) {
  constexpr int deepest = 8;
  bool is_deep = false;
  const auto look = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    is_deep = is_deep || depth > deepest;
    return !is_deep;
  };
  nlohmann::json object = nlohmann::json::parse(line, look, false);
  if (is_deep || !object.is_object()) return std::nullopt;
  return object;
}

std::optional<double> member_number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<std::int64_t> tokens_in(const nlohmann::json& object, const char* key) {
  const auto number = member_number(object, key);
  if (!number || std::floor(*number) != *number || !(*number >= 0 && *number <= 1e15)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

Result<Trace> read_mooncake(std::string_view text) {
  constexpr double ms_per_s = 1000;
  Trace trace;
  Lines lines(text);
  while (const auto line = lines.next()) {
    if (line->find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto object = object_in(*line);
    if (!object) return lines.wrong("it is not a JSON object");
    const auto at_ms = member_number(*object, "timestamp");
    if (!at_ms) return lines.wrong("it has no timestamp, which is a number of milliseconds");
    INFERMETER_TRY_DONE(add_time(trace, lines, *at_ms / ms_per_s));
    INFERMETER_TRY_DONE(
        add_lengths(trace, lines, tokens_in(*object, "input_length"), tokens_in(*object, "output_length")));
  }
  return trace;
}

Result<Trace> read_any(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') return read_mooncake(text);
  if (const auto columns = azure_columns(text.substr(0, text.find('\n')))) return read_azure(text, *columns);
  return read_times(text);
}

}  // namespace

Result<Trace> read_trace(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  auto trace = read_any(text);
  if (trace.ok() && trace->times_s.empty()) return usage_error("it has no arrivals: write a time in seconds per line");
  return trace;
}

Result<Trace> read_trace_of(const Arrivals& arrivals) {
  if (arrivals.kind != Arrivals::Kind::trace) return Trace{};
  INFERMETER_TRY(const std::vector<std::byte> bytes, read_file(arrivals.file, kLargestTrace));
  auto trace = read_trace({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (trace.ok()) return trace;
  return usage_error(fmt::format("{}: {}", in_quotes(arrivals.file), trace.error().message));
}

}  // namespace infermeter
