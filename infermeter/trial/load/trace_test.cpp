#include "infermeter/trial/load/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace infermeter::trace_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<double> times(std::string_view text) { return read_trace(text).value().times_s; }
std::string refusal(std::string_view trace) { return read_trace(trace).error().message; }

TEST(ReadTrace, ReadsTimesAndNamesTheLineThatIsWrong) {
  EXPECT_THAT(times("0\n0.5\n0.5\n2e0\n"), ElementsAre(0, 0.5, 0.5, 2));
  EXPECT_THAT(times("seconds,user\r\n\"0.25\",a\r\n1,b"), ElementsAre(0.25, 1));
  EXPECT_THAT(read_trace("1\n").value().lengths, SizeIs(0));
  EXPECT_THAT(refusal("0\n2\n1\n"), HasSubstr("line 3: 1 s comes before"));
  EXPECT_THAT(refusal("-1\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("1\nnan\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("1\nx\x1b[31m\n"), HasSubstr("x\\x1b"));
  EXPECT_THAT(refusal("seconds\n"), HasSubstr("no arrivals"));
  EXPECT_THAT(refusal(""), HasSubstr("no arrivals"));
}

TEST(ReadTrace, ReadsAzuresTraces) {
  const Trace of_2023 = read_trace(
                            "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 23:59:59.9805900,4808,10\r\n"
                            "2023-11-17 00:00:00.0314581,3180,8\r\n\r\n2023-11-17 00:01:00,1,0\r\n")
                            .value();
  EXPECT_THAT(of_2023.times_s, ElementsAre(0, DoubleNear(0.0508681, 1e-12), DoubleNear(60.01941, 1e-12)));
  ASSERT_THAT(of_2023.lengths, SizeIs(3));
  EXPECT_EQ(of_2023.lengths[1].prompt, 3180);
  EXPECT_EQ(of_2023.lengths[1].answer, 8);
  const Trace of_2024 = read_trace(
                            "GeneratedTokens,TIMESTAMP,ContextTokens\n5,2024-05-10 00:00:00.009930+00:00,7\n"
                            "6,2024-05-10T00:00:01Z,8\n")
                            .value();
  EXPECT_THAT(of_2024.times_s, ElementsAre(0, DoubleNear(0.99007, 1e-12)));
  EXPECT_EQ(of_2024.lengths[0].prompt, 7);
  EXPECT_THAT(times("TIMESTAMP,ContextTokens,GeneratedTokens\n1700000000.25,1,1\n1700000001.5,1,1\n"),
              ElementsAre(0, 1.25));
}

TEST(ReadTrace, RefusesWhatIsNoneOfAzures) {
  const auto row = [](const std::string& text) {
    return refusal("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-29 10:00:00,1,1\n" + text + "\n");
  };
  for (const char* moment : {"", "x", "2024-02-30 00:00:00", "2024-13-01 00:00:00", "2024-01-01", "2024-01-01 24:00:00",
                             "2024-01-01 00:00:0x", "2024-01-01 00:00:00,5", "2024-01-01 00:00:00.",
                             "2024-01-01 00:00:00.x", "2024-01-01 00:00:00-07:00", "-5", "nan", "0x5"})
    EXPECT_THAT(row(std::string(moment) + ",1,1"), HasSubstr("line 3: ")) << moment;
  EXPECT_THAT(row("2024-02-29 09:00:00,1,1"), HasSubstr("line 3: it comes before the first arrival: sort the file"));
  EXPECT_THAT(row("2024-02-29 11:00:00,1"), HasSubstr("line 3: it has fewer columns than the first line"));
  for (const char* lengths : {"1,", "-1,1", "1.5,1", "1,1e3", "1,999999999999"})
    EXPECT_THAT(row(std::string("2024-02-29 11:00:00,") + lengths), HasSubstr("no numbers of tokens")) << lengths;
  EXPECT_THAT(refusal("TIMESTAMP,ContextTokens,GeneratedTokens\n"), HasSubstr("no arrivals"));
}

TEST(ReadTrace, ReadsMooncakesTraces) {
  const Trace trace =
      read_trace(
          "{\"timestamp\": 0, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\n\n"
          "{\"timestamp\": 3052.5, \"input_length\": 10, \"output_length\": 0}\n")
          .value();
  EXPECT_THAT(trace.times_s, ElementsAre(0, 3.0525));
  ASSERT_THAT(trace.lengths, SizeIs(2));
  EXPECT_EQ(trace.lengths[0].prompt, 6955);
  EXPECT_EQ(trace.lengths[0].answer, 52);
}

TEST(ReadTrace, RefusesWhatIsNoneOfMooncakes) {
  const std::string good = "{\"timestamp\": 5, \"input_length\": 1, \"output_length\": 1}\n";
  const auto row = [&](const std::string& text) { return refusal(good + text); };
  EXPECT_EQ(row("7"), "line 2: it is not a JSON object");
  EXPECT_EQ(row("{\"timestamp\": 7"), "line 2: it is not a JSON object");
  EXPECT_EQ(row("{\"a\": " + std::string(100'000, '[')), "line 2: it is not a JSON object");
  EXPECT_EQ(row("{\"a\": [[[[[[[[[[]]]]]]]]]]}"), "line 2: it is not a JSON object");
  EXPECT_THAT(row("{\"timestamp\": \"7\"}"), HasSubstr("line 2: it has no timestamp"));
  EXPECT_THAT(row("{\"timestamp\": 7, \"input_length\": 1}"), HasSubstr("line 2: the lengths"));
  EXPECT_THAT(row("{\"timestamp\": 7, \"input_length\": 1.5, \"output_length\": 1}"), HasSubstr("line 2: the lengths"));
  EXPECT_THAT(row("{\"timestamp\": 7, \"input_length\": -1, \"output_length\": 1}"), HasSubstr("line 2: the lengths"));
  EXPECT_THAT(row("{\"timestamp\": 4, \"input_length\": 1, \"output_length\": 1}"),
              HasSubstr("line 2: 0.004 s comes before"));
}

}  // namespace
}  // namespace infermeter::trace_test
