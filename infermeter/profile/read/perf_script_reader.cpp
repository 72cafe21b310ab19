// The output of perf-script(1): of each sample a line that says who, when and of what event, then its call chain, the
// innermost frame first, then an empty line. Without call chains the one frame stands at the end of the line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/profile/read/stack_readers.hpp"
#include "infermeter/profile/stacks/stack_table.hpp"
#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/text/ascii.hpp"

namespace infermeter {
namespace {

bool is_blank(char character) { return character == ' ' || character == '\t'; }

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

template <class Number, class... Base>
std::optional<Number> number_of(std::string_view text, Base... base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

// "123.456789:"
std::optional<double> script_time(std::string_view word) {
  if (!word.ends_with(':') || word.find('.') == std::string_view::npos) return std::nullopt;
  const auto time_s = number_of<double>(word.substr(0, word.size() - 1), std::chars_format::fixed);
  return time_s && std::isfinite(*time_s) && *time_s >= 0 ? time_s : std::nullopt;
}

// "1234" or "1234/1235": the number of the thread.
std::optional<std::uint64_t> thread_of_word(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos) return number_of<std::uint64_t>(word);
  if (!number_of<std::uint64_t>(word.substr(0, slash))) return std::nullopt;
  return number_of<std::uint64_t>(word.substr(slash + 1));
}

struct Header {
  std::string thread;  // "python3 1235"
  double t_s = 0;
  std::string_view event;  // "cpu-clock:u"
  std::optional<double> period;
  std::string_view rest;  // a frame, where there is no call chain
};

// Before the time: the program's name, which may hold spaces, a thread, perhaps a processor "[001]".
std::optional<std::string> thread_name(std::string_view before) {
  before = trimmed(before);
  if (before.ends_with(']')) before = trimmed(before.substr(0, std::min(before.rfind('['), before.size())));
  const std::size_t space = before.find_last_of(" \t");
  if (space == std::string_view::npos) return std::nullopt;
  const auto thread = thread_of_word(before.substr(space + 1));
  if (!thread) return std::nullopt;
  return fmt::format("{} {}", trimmed(before.substr(0, space)), *thread);
}

std::optional<Header> parse_header(std::string_view line) {
  std::string_view rest = line;
  Header header;
  while (!rest.empty()) {
    const std::string_view word = take_word(rest);
    const auto time_s = script_time(word);
    if (!time_s) continue;
    const auto name = thread_name(line.substr(0, static_cast<std::size_t>(word.data() - line.data())));
    if (!name) return std::nullopt;
    header.thread = *name;
    header.t_s = *time_s;
    std::string_view event = take_word(rest);
    if (const auto period = number_of<std::uint64_t>(event)) {
      header.period = static_cast<double>(*period);
      event = take_word(rest);
    }
    if (!event.ends_with(':') || event.size() < 2) return std::nullopt;
    header.event = event.substr(0, event.size() - 1);
    header.rest = trimmed(rest);
    return header;
  }
  return std::nullopt;
}

struct Frame {
  std::string_view symbol, module;
  std::uint64_t offset = 0;
};

// "symbol+0x1f" without the offset: it moves with every sample.
std::string_view without_offset(std::string_view symbol) {
  const std::size_t plus = symbol.rfind("+0x");
  if (plus == std::string_view::npos || !number_of<std::uint64_t>(symbol.substr(plus + 3), 16)) return symbol;
  return symbol.substr(0, plus);
}

// Of the bracket that nothing after it closes.
std::size_t last_open_bracket(std::string_view text) {
  std::size_t closed = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++closed;
    if (text[i] == '(' && closed-- == 0) return i;
  }
  return std::string_view::npos;
}

// "7f12ab symbol+0x1f (/usr/lib/x.so)"; a symbol may hold spaces and brackets, a file's name too.
std::optional<Frame> parse_frame(std::string_view line) {
  std::string_view rest = trimmed(line);
  if (!number_of<std::uint64_t>(take_word(rest), 16)) return std::nullopt;
  rest = trimmed(rest);
  constexpr std::string_view deleted = " (deleted))";  // of a file that is there no more
  if (!rest.ends_with(')')) return std::nullopt;
  rest.remove_suffix(rest.ends_with(deleted) ? deleted.size() : 1);
  const std::size_t bracket = last_open_bracket(rest);
  if (bracket == std::string_view::npos) return std::nullopt;
  Frame frame{.symbol = without_offset(trimmed(rest.substr(0, bracket))), .module = rest.substr(bracket + 1)};
  if (frame.symbol == "[unknown]") frame.symbol = {};
  if (frame.module == "[unknown]" || frame.module == "inlined") frame.module = {};
  const std::size_t plus = frame.module.rfind("+0x");
  if (plus != std::string_view::npos) {
    const auto offset = number_of<std::uint64_t>(frame.module.substr(plus + 3), 16);
    if (offset) {
      frame.module = frame.module.substr(0, plus);
      if (frame.symbol.empty()) frame.offset = *offset;
    }
  }
  return frame;
}

// cpu-clock and task-clock count nanoseconds.
bool counts_time(std::string_view event) { return event.starts_with("cpu-clock") || event.starts_with("task-clock"); }

class PerfScript {
 public:
  Result<StackProfile> parse(std::string_view text) {
    while (!text.empty() && !table_.profile().cut) {
      const TextLine line = take_line(text);
      if (!line.complete) {
        table_.profile().cut = true;
        open_.reset();
        break;
      }
      INFERMETER_TRY_DONE(take(line.text));
    }
    INFERMETER_TRY_DONE(end_sample());
    if (table_.profile().samples.empty()) {
      return io_error("no sample of perf's was found: is it the output of 'perf script'?");
    }
    return table_.take();
  }

 private:
  Result<Done> take(std::string_view line) {
    if (line.starts_with('#')) return Done{};
    if (trimmed(line).empty()) return end_sample();
    if (open_ && !frame_in_header_ && is_blank(line.front())) {
      if (const auto frame = parse_frame(line)) return add_frame(*frame);
    }
    if (const auto header = parse_header(line)) return begin_sample(*header);
    return Done{};  // source lines and other things that perf was asked for
  }

  Result<Done> begin_sample(const Header& header) {
    INFERMETER_TRY_DONE(end_sample());
    INFERMETER_TRY_DONE(check_event(header));
    INFERMETER_TRY(const std::uint32_t thread, table_.thread(header.thread));
    open_ = StackSample{.t_s = header.t_s, .thread = thread, .frames = {}, .weight = 1};
    if (has_periods_) open_->weight = header.period.value_or(0) * (table_.profile().unit == "s" ? 1e-9 : 1);
    const auto frame = parse_frame(header.rest);
    frame_in_header_ = frame.has_value();
    if (frame) return add_frame(*frame);
    return Done{};
  }

  // The first sample says what is counted.
  Result<Done> check_event(const Header& header) {
    if (event_.empty()) {
      event_ = header.event;
      has_periods_ = header.period.has_value();
      std::string& unit = table_.profile().unit;
      if (!has_periods_) unit = "samples";
      if (has_periods_) unit = counts_time(event_) ? "s" : trace_text(event_);
    }
    if (event_ == header.event) return Done{};
    return io_error(fmt::format("the samples of perf are of several events, '{}' and '{}': record one",
                                trace_text(event_.substr(0, 100)), trace_text(header.event.substr(0, 100))));
  }

  Result<Done> add_frame(const Frame& frame) {
    if (open_->frames.size() >= kDeepestStack) {
      return io_error(fmt::format("a sample of perf's has more than {} frames", kDeepestStack));
    }
    INFERMETER_TRY(const std::uint32_t number, table_.frame(frame.symbol, frame.module, frame.offset));
    open_->frames.push_back(number);
    return Done{};
  }

  Result<Done> end_sample() {
    if (!open_) return Done{};
    std::ranges::reverse(open_->frames);
    table_.add(std::move(*open_));
    open_.reset();
    return Done{};
  }

  StackTable table_;
  std::optional<StackSample> open_;
  std::string event_;
  bool has_periods_ = false;
  bool frame_in_header_ = false;  // then no call chain follows
};

constexpr std::size_t script_lines_looked_at = 200;

}  // namespace

bool is_perf_script(std::string_view text) {
  for (std::size_t line = 0; line < script_lines_looked_at && !text.empty(); ++line) {
    if (parse_header(take_line(text).text)) return true;
  }
  return false;
}

Result<StackProfile> parse_perf_script(std::string_view text) { return PerfScript().parse(text); }

}  // namespace infermeter
