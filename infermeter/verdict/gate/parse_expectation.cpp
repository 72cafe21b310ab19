#include "infermeter/verdict/gate/parse_expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "infermeter/text/nearest.hpp"
#include "infermeter/verdict/gate/figure_kinds.hpp"
#include "infermeter/verdict/question.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

constexpr int least_runs = 2;
constexpr int most_runs = 100;

constexpr auto relations = std::to_array<std::pair<std::string_view, Relation>>({
    {"<=", Relation::less_or_equal},
    {"≤", Relation::less_or_equal},
    {">=", Relation::greater_or_equal},
    {"≥", Relation::greater_or_equal},
    {"==", Relation::equal},
    {"<", Relation::less},
    {">", Relation::greater},
});
// What is written for them by habit.
constexpr auto slips =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"=<", "<="}, {"=>", ">="}, {"=", "=="}});

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; }

std::string quoted(std::string_view text) {
  constexpr std::size_t limit = 40;
  if (text.empty()) return "nothing";
  return text.size() > limit ? fmt::format("'{}…'", text.substr(0, limit)) : fmt::format("'{}'", text);
}

class Parser {
 public:
  explicit Parser(const ExpectationDraft& draft) : text_(draft.that.text) {
    expectation_.source = draft.that;
    expectation_.subject = draft.subject;
  }

  Result<Expectation> parse() {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string_view first = word();
    if (first.empty()) {
      return fail(
          begin, fmt::format("an expectation begins with a figure (\"latency_p50_ms <= 12\"), got {}", quoted(rest())));
    }
    INFERMETER_TRY_DONE(parse_from(first, begin));
    skip_blanks();
    if (!rest().empty()) return fail(at_, fmt::format("{} is too much here", quoted(rest())));
    return std::move(expectation_);
  }

 private:
  Result<Done> parse_from(std::string_view first, std::size_t begin) {
    if (first == "outputs") return parse_outputs();
    if (first == "no") return parse_none();
    if (first == "reproducible") return parse_reproducible();
    if (first == "speedup") return parse_speedup();
    if (first == "regression") return parse_regression();
    if (first == "counter" && next_is('(')) return parse_counter(Kind::counter);
    if (first == "difference" && next_is('(')) return parse_counter(Kind::counter_difference);
    return parse_figure(first, begin);
  }

  // "outputs agree", "outputs repeat"
  Result<Done> parse_outputs() {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string_view what = word();
    if (what == "agree") return words(Kind::outputs_agree, {});
    if (what == "repeat") return words(Kind::outputs_repeat, {});
    return fail(begin, expected("'agree' or 'repeat'", what.empty() ? rest() : what, {"agree", "repeat"}));
  }

  // "no regression beyond 2%", "no leak"
  Result<Done> parse_none() {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string_view what = word();
    if (what == "leak") return words(Kind::no_leak, {});
    if (what != "regression") return fail(begin, expected("'regression' or 'leak'", what, {"regression", "leak"}));
    INFERMETER_TRY_DONE(parse_metric(Kind::no_regression));
    INFERMETER_TRY_DONE(expect_word("beyond"));
    return parse_margin();
  }

  // "reproducible over 3 runs within 2%"
  Result<Done> parse_reproducible() {
    INFERMETER_TRY_DONE(parse_metric(Kind::reproducible));
    INFERMETER_TRY_DONE(expect_word("over"));
    skip_blanks();
    const std::size_t begin = at_;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), expectation_.runs);
    if (error != std::errc{} || expectation_.runs < least_runs || expectation_.runs > most_runs) {
      return fail(begin, fmt::format("expected a number of runs from {} to {}, got {}", least_runs, most_runs,
                                     quoted(rest().substr(0, rest().find(' ')))));
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    INFERMETER_TRY_DONE(expect_word("runs"));
    INFERMETER_TRY_DONE(expect_word("within"));
    return parse_margin();
  }

  Result<Done> parse_speedup() {
    const std::size_t begin = at_;
    INFERMETER_TRY_DONE(parse_metric(Kind::speedup));
    if (expectation_.name == "memory_peak") {
      return fail(
          begin,
          "speedup is of times and of throughput; of memory there are memory_reduction and regression(peak_memory)");
    }
    INFERMETER_TRY_DONE(parse_relation());
    return parse_threshold("speedup", Dimension::factor, nullptr);
  }

  Result<Done> parse_regression() {
    INFERMETER_TRY_DONE(parse_metric(Kind::regression));
    skip_blanks();
    const std::size_t begin = at_;
    INFERMETER_TRY_DONE(parse_relation());
    if (expectation_.relation != Relation::less && expectation_.relation != Relation::less_or_equal) {
      return fail(begin, "regression takes <= or <: it is what must not be large");
    }
    return parse_percentage("regression");
  }

  // A counter whose name is like that of a figure, or has blanks in it; or its difference from the first subject's.
  Result<Done> parse_counter(Kind kind) {
    const std::size_t open = text_.find('(', at_), close = text_.find(')', at_);
    if (close == std::string_view::npos) return fail(open, "this bracket is not closed");
    expectation_.kind = kind;
    expectation_.name = text_.substr(open + 1, close - open - 1);
    if (expectation_.name.empty()) {
      return fail(open, kind == Kind::counter ? "counter() needs a name: counter(hit_rate) >= 0.8"
                                              : "difference() needs a counter's name: difference(psnr_db) < 1");
    }
    at_ = close + 1;
    INFERMETER_TRY_DONE(parse_relation());
    return parse_threshold(expectation_.name, Dimension::number, nullptr);
  }

  Result<Done> parse_figure(std::string_view name, std::size_t begin) {
    const auto found = find_figure(name);
    if (!found && (name == "latency_std" || name == "latency_std_ms")) {
      return fail(begin,
                  "latency_std has no interval that it could be judged on; there are latency_p99 and latency_max");
    }
    if (!found) {
      std::vector<std::string> known = {"speedup", "regression", "outputs", "reproducible"};
      std::ranges::move(figure_names(), std::back_inserter(known));
      if (const auto near = nearest_name(name, known)) {
        return fail(begin, fmt::format("unknown figure '{}' (did you mean '{}'? a counter of that name is written "
                                       "counter({}))",
                                       name, *near, name));
      }
    }
    expectation_.kind = found ? found->figure->kind : Kind::counter;
    expectation_.name = found && !found->figure->metric.empty() ? found->figure->metric : name;
    INFERMETER_TRY_DONE(parse_relation());
    return parse_threshold(name, found ? found->figure->dimension : Dimension::number, found ? found->unit : nullptr);
  }

  // "(throughput)", or nothing: the median latency.
  Result<Done> parse_metric(Kind kind) {
    expectation_.kind = kind;
    expectation_.name = "latency_p50";
    if (!next_is('(')) return Done{};
    const std::size_t open = text_.find('(', at_), close = text_.find(')', at_);
    if (close == std::string_view::npos) return fail(open, "this bracket is not closed");
    auto metric = metric_from_string(text_.substr(open + 1, close - open - 1));
    if (!metric) return fail(open + 1, metric.error().message);
    expectation_.name = std::move(*metric);
    at_ = close + 1;
    return Done{};
  }

  Result<Done> parse_relation() {
    skip_blanks();
    for (const auto& [sign, meant] : slips) {
      if (rest().starts_with(sign) && !rest().starts_with("==")) {
        return fail(at_, fmt::format("'{}' is not a comparison (did you mean '{}'?)", sign, meant));
      }
    }
    for (const auto& [sign, relation] : relations) {
      if (!rest().starts_with(sign)) continue;
      expectation_.relation = relation;
      at_ += sign.size();
      return Done{};
    }
    return fail(at_, fmt::format("here comes <=, <, >=, > or ==, got {}", quoted(rest())));
  }

  // `unit`: of the name, which a number without one takes.
  Result<Done> parse_threshold(std::string_view name, Dimension dimension, const FigureUnit* unit) {
    expectation_.dimension = dimension;
    skip_blanks();
    const std::size_t begin = at_;
    INFERMETER_TRY(const double number, parse_number());
    const bool may_be_negative =
        dimension == Dimension::number || dimension == Dimension::share || dimension == Dimension::decibels;
    if (number < 0 && !may_be_negative) return fail(begin, fmt::format("{} is never negative", name));
    skip_blanks();
    const std::size_t place = at_;
    const std::string_view written = take_unit();
    if (written.empty()) {
      const bool needs_unit = dimension == Dimension::seconds || dimension == Dimension::bytes;
      if (unit == nullptr && needs_unit) {
        const std::string_view usual = dimension == Dimension::seconds ? "ms" : "MB";
        const std::string_view suffix = dimension == Dimension::seconds ? "_ms" : "_mb";
        return fail(place, fmt::format("{0} needs a unit: {0} {1} {2}{3}, or {0}{4} {1} {2}", name,
                                       to_string(expectation_.relation), number, usual, suffix));
      }
      expectation_.threshold = unit == nullptr ? number : unit->in_base(number);
      return Done{};
    }
    const bool is_share = written == "%" && (is_counter() || expectation_.name.starts_with("relative_"));
    const FigureUnit* found = find_unit(is_share ? Dimension::share : dimension, written);
    if (found == nullptr) return fail(place, wrong_unit(name, dimension, written));
    expectation_.threshold = found->in_base(number);
    return Done{};
  }

  [[nodiscard]] std::string wrong_unit(std::string_view name, Dimension dimension, std::string_view written) const {
    if (is_counter()) return fmt::format("a counter takes a number or %, not '{}'", written);
    const std::string known = unit_names(dimension);
    return known.empty() ? fmt::format("{} takes a number without a unit, not '{}'", name, written)
                         : fmt::format("{} takes {}, not '{}'", name, known, written);
  }

  [[nodiscard]] bool is_counter() const {
    return expectation_.kind == Kind::counter || expectation_.kind == Kind::counter_difference;
  }

  // Shares of which 10 might be meant as 10 % or as ten times: the sign must be there.
  Result<Done> parse_percentage(std::string_view what) {
    expectation_.dimension = Dimension::share;
    skip_blanks();
    INFERMETER_TRY(const double number, parse_number());
    skip_blanks();
    const std::size_t place = at_;
    const std::string_view written = take_unit();
    if (written.empty()) return fail(place, fmt::format("{} takes a percentage: write {}%", what, number));
    if (written != "%") return fail(place, fmt::format("{} takes %, not '{}'", what, written));
    expectation_.threshold = number / 100;
    return Done{};
  }

  Result<Done> parse_margin() {
    skip_blanks();
    const std::size_t begin = at_;
    INFERMETER_TRY_DONE(parse_percentage("a margin"));
    if (expectation_.threshold > 0) return Done{};
    return fail(begin, "a margin is above 0 %");
  }

  Result<double> parse_number() {
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error == std::errc::result_out_of_range || (error == std::errc{} && !std::isfinite(number))) {
      return fail(at_, fmt::format("a threshold is a finite number, got {}", quoted(rest())));
    }
    if (error != std::errc{}) return fail(at_, fmt::format("expected a number, got {}", quoted(rest())));
    at_ = static_cast<std::size_t>(end - text_.data());
    return number;
  }

  std::string_view take_unit() {
    const std::string_view unit = rest().substr(0, rest().find(' '));
    at_ += unit.size();
    return unit;
  }

  Result<Done> words(Kind kind, std::initializer_list<std::string_view> following) {
    expectation_.kind = kind;
    if (kind == Kind::no_leak) expectation_.dimension = Dimension::bytes;
    for (const std::string_view next : following) INFERMETER_TRY_DONE(expect_word(next));
    return Done{};
  }

  Result<Done> expect_word(std::string_view wanted) {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string_view got = word();
    if (got == wanted) return Done{};
    return fail(begin, expected(fmt::format("'{}'", wanted), got.empty() ? rest() : got, {std::string(wanted)}));
  }

  static std::string expected(std::string_view wanted, std::string_view got, const std::vector<std::string>& known) {
    return fmt::format("here comes {}, got {}{}", wanted, quoted(got), did_you_mean(got, known));
  }

  std::string_view word() {
    const std::size_t begin = at_;
    if (at_ < text_.size() && is_letter(text_[at_])) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] Error fail(std::size_t offset, std::string_view message) const {
    return expectation_.source.error(offset, message);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Expectation expectation_;
};

}  // namespace

Result<Expectation> parse_expectation(const ExpectationDraft& draft) { return Parser(draft).parse(); }

}  // namespace infermeter
