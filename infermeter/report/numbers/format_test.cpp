#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/report/test_golden.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/text/utc_time.hpp"

namespace infermeter::format_test {
namespace {

TEST(Format, GivesThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(format_time(0.01124), "11.2 ms");
  EXPECT_EQ(format_time(0.00182), "1.82 ms");
  EXPECT_EQ(format_time(312.4e-6), "312 µs");
  EXPECT_EQ(format_time(20e-9), "20.0 ns");
  EXPECT_EQ(format_time(0.05e-9), "0.0500 ns");
  EXPECT_EQ(format_time(1234), "1234 s");
  EXPECT_EQ(format_time(0), "0 s");
  EXPECT_EQ(format_time(-0.0012), "-1.20 ms");
}

TEST(Format, ChoosesTheUnitOfTheRoundedValue) {
  EXPECT_EQ(format_time(999.4e-6), "999 µs");
  EXPECT_EQ(format_time(999.6e-6), "1.00 ms");
  EXPECT_EQ(format_time(0.009999), "10.0 ms");
  EXPECT_EQ(format_bytes(999.6e6), "1.00 GB");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(25557032), "25,557,032");
}

TEST(Format, CountsBytesInDecimalUnits) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1048576), "1.05 MB");
  EXPECT_EQ(format_bytes(97.5e6), "97.5 MB");
  EXPECT_EQ(format_bytes(2e12), "2.00 TB");
}

TEST(Format, WritesRatesAndRatios) {
  EXPECT_EQ(format_rate(26.2), "26.2/s");
  EXPECT_EQ(format_rate(12345), "12.3 k/s");
  EXPECT_EQ(format_ratio(1.82), "1.82x");
  EXPECT_EQ(format_ratio(0.981), "0.981x");
  EXPECT_EQ(format_ratio(123.4), "123x");
}

TEST(Format, NeverShowsWhatIsNoNumber) {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(format_time(value), "not known");
    EXPECT_EQ(format_rate(value), "not known");
    EXPECT_EQ(format_ratio(value), "not known");
    EXPECT_EQ(format_bytes(value), "not known");
    EXPECT_NE(format_duration(value), "");
  }
}

TEST(Format, WritesNumbersOfAnySize) {
  EXPECT_EQ(plain_number(3), "3");
  EXPECT_EQ(plain_number(-1234567), "-1234567");
  EXPECT_EQ(plain_number(-0.0), "0");
  EXPECT_EQ(plain_number(0.834), "0.834");
  EXPECT_EQ(plain_number(1.5e20), "1.5e+20");
  EXPECT_EQ(plain_number(-2.5e-9), "-2.5e-09");
  EXPECT_EQ(plain_number(std::nan("")), "not known");
}

TEST(Format, WritesIntervalsBesideTheirValue) {
  const auto interval = [](double low, double high) { return Interval{low, high, 0.95}; };
  EXPECT_EQ(with_interval(0.0382, interval(0.0379, 0.0386), format_time), "38.2 ms [37.9, 38.6]");
  EXPECT_EQ(with_interval(0.25, interval(0.2496, 0.2504), format_time), "250 ms ±0.2 %");
  EXPECT_EQ(with_interval(3, interval(3, 3), plain_number), "3 ±0");
  EXPECT_EQ(with_interval(1.5e20, interval(0.9e20, 2.1e20), plain_number), "1.5e+20 [9e+19, 2.1e+20]");
  EXPECT_EQ(with_interval(0, interval(-0.5, 0.5), plain_number), "0 [-0.500, 0.500]");
  EXPECT_EQ(with_interval(2, {}, plain_number), "2");
}

TEST(Format, WritesAnIntervalInTheUnitOfItsValue) {
  EXPECT_EQ(with_interval(0.0293, Interval{0.000958, 0.894}, format_time), "29.3 ms [0.958, 894]");
  EXPECT_EQ(with_interval(990, Interval{980, 1010}, format_rate), "990/s [980, 1010]");
  EXPECT_EQ(figure_text("1/s")(990), "990/s");  // of requests and of tokens
  EXPECT_EQ(figure_text("items/s")(990), "990/s");
  EXPECT_EQ(figure_text("s")(0.0112), "11.2 ms");
  EXPECT_EQ(figure_text("bytes")(97.5e6), "97.5 MB");
  EXPECT_EQ(figure_text("share")(0.992), "99.2 %");
  EXPECT_EQ(figure_text("1")(12), "12");
  EXPECT_EQ(with_interval(2.5e6, Interval{900, 5e6}, format_bytes), "2.50 MB [0.000900, 5.00]");
}

TEST(Format, DoesNotWriteAnIntervalThatTellsNothing) {
  EXPECT_EQ(with_interval(0.0031, Interval{4.16e-15, 12345162136.0}, format_time), "3.10 ms [too few to tell]");
  EXPECT_EQ(with_interval(1.2, Interval{-400, 400}, format_ratio), "1.20x [too few to tell]");
}

// Values of all sizes, those that lie between two roundings among them.
std::vector<double> values_of_all_sizes() {
  std::vector<double> values = {1234.5,  1235.5, 0.125, 2.5,   0.5, 12345, 199998,
                                0.99949, 0.9995, 999.4, 999.6, 1e3, 1e6};
  for (int power = -9; power <= 9; ++power) {
    for (const double lead : {1.0, 1.005, 2.345, 3.14159, 4.995, 5.0, 6.65, 7.7777, 9.994, 9.996}) {
      values.push_back(lead * std::pow(10.0, power));
    }
  }
  return values;
}

// The page (web/test/format.test.ts) and the plots (tests/python/test_figures.py) write the same.
TEST(Format, WritesWhatPageAndPlotsWrite) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const double value : values_of_all_sizes()) {
    rows.push_back({{"value", value},
                    {"time", format_time(value)},
                    {"bytes", format_bytes(value)},
                    {"rate", format_rate(value)},
                    {"ratio", format_ratio(value)},
                    {"duration", format_duration(value)}});
  }
  EXPECT_GE(rows.size(), 200U);
  std::string text = "[";
  for (const auto& row : rows) text += (text.size() == 1 ? "\n" : ",\n") + row.dump();
  test::expect_golden("figures.json", text + "\n]\n");
}

TEST(Format, TellsDurationsAsPeopleDo) {
  EXPECT_EQ(format_duration(0.25), "0.2 s");
  EXPECT_EQ(format_duration(9.99), "10 s");
  EXPECT_EQ(format_duration(59.7), "1 min");
  EXPECT_EQ(format_duration(80), "1 min 20 s");
  EXPECT_EQ(format_duration(7500), "2 h 5 min");
  EXPECT_EQ(format_duration(90000), "1 d 1 h");
  EXPECT_EQ(format_duration(-1), "not known");
}

TEST(Format, WritesMomentsInUtc) {
  EXPECT_EQ(utc_time(1795261320.25), "2026-11-21T11:42:00.250Z");
  EXPECT_EQ(utc_time(951782400), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(utc_time(-1), "");
  EXPECT_EQ(utc_time(std::nan("")), "");
  EXPECT_EQ(utc_time(1e300), "");
}

TEST(Printable, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(printable("resnet50 – µ 模型"), "resnet50 – µ 模型");
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable(std::string("a\0b\n", 4)), "a\\x00b\\x0a");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u{9b}");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u{202e}");
  EXPECT_EQ(printable("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(printable("\xe6\xa8"), "\\xe6\\xa8");           // cut
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("模型", 3), "模…");
  EXPECT_EQ(printable("模型", 5), "模…");
  EXPECT_EQ(printable("模型", 6), "模型");
  EXPECT_EQ(printable(std::string(1'000'000, 'x')).size(), 300 + std::string("…").size());
}

RC_GTEST_PROP(Printable, LeavesNoControlWhateverTheBytes, (const std::string& bytes)) {
  const std::string text = printable(bytes);
  for (std::string_view rest = text; !rest.empty();) {
    const Character character = next_character(rest);
    RC_ASSERT(character.valid);
    RC_ASSERT(!steers_display(character.code));
    rest.remove_prefix(character.size);
  }
}

TEST(Text, KnowsHowWideItIs) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("模型"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);
  EXPECT_EQ(display_width("🚀"), 2U);
  EXPECT_EQ(display_width("✓ ⚠ ✗ …"), 7U);
}

TEST(Text, FitsAndPads) {
  EXPECT_EQ(fitted("abcdef", 4), "abc…");
  EXPECT_EQ(fitted("模型模型", 4), "模…");
  EXPECT_EQ(fitted("abcd", 4), "abcd");
  EXPECT_EQ(padded("模", 4, Align::right), "  模");
  EXPECT_EQ(padded("abcdef", 4, Align::left), "abcdef");
}

TEST(Text, CutsNamesSoThatTheyStayApart) {
  const std::vector<std::string> builds = {"mlp@onnxruntime,library=old.so", "mlp@onnxruntime,library=new.so",
                                           "mlp@fake"};
  EXPECT_EQ(fitted_apart(builds, 20),
            (std::vector<std::string>{"mlp@onnxr…ary=old.so", "mlp@onnxr…ary=new.so", "mlp@fake"}));
  EXPECT_EQ(fitted_apart(builds, 40), builds);
  const std::vector<std::string> in_the_middle = {"aaaaaaaaaaaaaaaaaaaa1bbbbbbbbbbbbbbbbbbbb",
                                                  "aaaaaaaaaaaaaaaaaaaa2bbbbbbbbbbbbbbbbbbbb"};
  EXPECT_EQ(fitted_apart(in_the_middle, 12), (std::vector<std::string>{"aaaaaaaaa…~1", "aaaaaaaaa…~2"}));
  const std::vector<std::string> equal = {"a long name that is too long", "a long name that is too long"};
  EXPECT_EQ(fitted_apart(equal, 9), (std::vector<std::string>{"a lo…long", "a lo…long"})) << "they are one name";
}

TEST(Text, BreaksAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrapped("unbreakable word", 4, 0), "unbreakable\nword");
  EXPECT_EQ(wrapped("", 4, 0), "");
}

}  // namespace
}  // namespace infermeter::format_test
