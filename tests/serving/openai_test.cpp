#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <vector>

#include "openai/completion_answer.hpp"
#include "openai/completion_request.hpp"
#include "openai/lengths.hpp"
#include "openai/model_list.hpp"
#include "openai/prompt_file.hpp"
#include "openai/prompts.hpp"
#include "openai/sse_reader.hpp"

namespace infermeter::openai_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// What an action is refused with.
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.message;
  }
  return "nothing was refused";
}

// --- events --------------------------------------------------------------------------------------------------------

std::vector<std::string> events_of(std::initializer_list<std::string_view> reads) {
  SseReader reader;
  std::vector<std::string> events;
  const auto take = [&](std::string_view data) { events.emplace_back(data); };
  for (const std::string_view read : reads) reader.feed(read, take);
  reader.end(take);
  return events;
}

TEST(SseReader, EventsAreTheSameHoweverTheyAreCut) {
  for (const std::string_view end : {"\n", "\r\n", "\r"}) {
    std::string stream =
        "\xEF\xBB\xBF: a comment||data: one||event: x|id: 3|retry: 10|data:two|data:  three||data||data: four";
    for (std::size_t at = stream.find('|'); at != std::string::npos; at = stream.find('|')) stream.replace(at, 1, end);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      const std::string_view text = stream;
      EXPECT_THAT(events_of({text.substr(0, cut), text.substr(cut)}), ElementsAre("one", "two\n three", "", "four"))
          << "cut at " << cut;
    }
    std::vector<std::string> one_by_one;
    SseReader reader;
    for (const char byte : stream)
      reader.feed({&byte, 1}, [&](std::string_view data) { one_by_one.emplace_back(data); });
    EXPECT_THAT(one_by_one, SizeIs(3));
  }
}

TEST(SseReader, WhatIsNoDataIsNoEvent) {
  EXPECT_THAT(events_of({": ping\n\n\n\nevent: done\n\ndatum: 3\n\n"}), SizeIs(0));
  EXPECT_THAT(events_of({""}), SizeIs(0));
}

TEST(SseReader, AnEventIsBounded) {
  const std::string half(SseReader::longest_event / 2, 'x');
  EXPECT_EQ(refusal([&] { events_of({"data: " + half + "\n"}); }), "nothing was refused");
  EXPECT_THAT(refusal([&] { events_of({half, half, half}); }), HasSubstr("more than 1048576 bytes"));
  EXPECT_THAT(refusal([&] { events_of({"data: " + half + "\ndata: " + half + "\n"}); }),
              HasSubstr("more than 1048576"));
}

// --- answers -------------------------------------------------------------------------------------------------------

std::string event(std::string_view json) { return "data: " + std::string(json) + "\n\n"; }

CompletionAnswer streamed(std::initializer_list<std::string_view> reads, Api api = Api::chat) {
  StreamedAnswer answer(api);
  answer.begin();
  std::int64_t moment_ns = 0;
  for (const std::string_view read : reads) answer.take(read, ++moment_ns);
  answer.end();
  return answer.answer();
}

const std::string role = event(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})");
const std::string a = event(R"({"choices":[{"delta":{"content":"a"}}]})");
const std::string stop = event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})");
const std::string usage = event(R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}})");
const std::string done = event("[DONE]");

TEST(StreamedAnswer, HasAMomentForEachPieceWithContent) {
  const std::string stream = role + a + a + stop + usage + done;
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    const std::string_view text = stream;
    const CompletionAnswer answer = streamed({text.substr(0, cut), text.substr(cut)});
    ASSERT_THAT(answer.moments_ns, SizeIs(2));
    // Of the read that completed it.
    EXPECT_EQ(answer.moments_ns[0], cut < (role + a).size() ? 2 : 1) << cut;
    EXPECT_EQ(answer.moments_ns[1], cut < (role + a + a).size() ? 2 : 1) << cut;
    EXPECT_EQ(answer.text, "aa");
    EXPECT_EQ(answer.output_tokens, 3);
    EXPECT_EQ(answer.prompt_tokens, 7);
    EXPECT_EQ(answer.finish_reason, "stop");
  }
  const CompletionAnswer at_once = streamed({stream});
  EXPECT_EQ(at_once.moments_ns[0], at_once.moments_ns[1]) << "they were read together";
}

TEST(StreamedAnswer, ToolCallsThoughtsAndPlainTextAreContent) {
  const CompletionAnswer chat = streamed({event(R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})"),
                                          event(R"({"choices":[{"delta":{"reasoning":"so"}}]})"),
                                          event(R"({"choices":[{"delta":{"tool_calls":[{"index":0}]}}]})"), done});
  EXPECT_THAT(chat.moments_ns, SizeIs(3));
  EXPECT_EQ(chat.text, R"(hmso[{"index":0}])");
  const CompletionAnswer plain =
      streamed({event(R"({"choices":[{"text":"x"}]})"), event(R"({"choices":[{"text":""}]})"), done}, Api::completions);
  EXPECT_THAT(plain.moments_ns, SizeIs(1));
}

TEST(StreamedAnswer, LettersThatAreCutIntoTwoEventsAreWholeAgain) {
  const std::string letter = "\xF0\x9F\x98\x80";
  for (std::size_t cut = 1; cut < letter.size(); ++cut) {
    const auto piece = [](std::string_view text) {
      return event("{\"choices\":[{\"delta\":{\"content\":\"" + std::string(text) + "\"}}]}");
    };
    const std::string_view text = letter;
    EXPECT_EQ(streamed({piece(text.substr(0, cut)), piece(text.substr(cut)), done}).text, letter);
  }
  EXPECT_EQ(streamed({event(R"({"choices":[{"delta":{"content":"\u00e9é"}}]})"), done}).text, "éé");
}

// The second event of each pair is like the first but for something: what is said of it is what a stream of it alone
// says.
TEST(StreamedAnswer, EventsAreTakenForWhatTheySayHoweverAlikeTheyAre) {
  const auto chat = [](std::string_view delta, std::string_view id = "1", std::string_view rest = "") {
    return R"({"id":")" + std::string(id) + R"(","choices":[{"delta":{)" + std::string(delta) + "}}]" +
           std::string(rest) + "}";
  };
  const auto says = [&](std::string_view text, std::string_view id = "1", std::string_view rest = "") {
    return chat(R"("content":")" + std::string(text) + '"', id, rest);
  };
  const std::vector<std::pair<std::string, std::string>> pairs{
      {says("ab"), says("cd")},
      {says("ab"), says("")},
      {says("ab"), says(R"(a\"b\u00e9\n)")},
      {says("ab"), says(R"(a","content":"b)")},
      {says("ab"), says("caf\xC3\xA9")},
      {says("ab"), says("half a letter \xF0\x9F")},
      {says("ab"), says("\x7F")},
      {says("ab", "ab"), says("cd", "ab")},
      {says("ab", "ab"), says("ab", "cd")},
      {says(R"(\u0061b)", "ab"), says(R"(\u0061b)", "cd")},
      {says(","), says(";")},
      {chat(R"("reasoning":"a","content":"b")", "ab"), chat(R"("reasoning":"a","content":"b")", "cd")},
      {chat(R"("reasoning":"a","content":"b")"), chat(R"("reasoning":"a","content":"c")")},
      {chat(R"("reasoning":"ab")"), chat(R"("reasoning":"cd")")},
      {chat(R"("tool_calls":[1])", "[1]"), chat(R"("tool_calls":[1])", "[2]")},
      {says("ab", "1", R"(,"usage":{"completion_tokens":1})"), says("ab", "1", R"(,"usage":{"completion_tokens":2})")},
      {says("ab"), chat(R"("content":"a)")},
      {says("ab"), says("a\tb")},
      {says("ab"), R"({"id":"1"}]})"},
  };
  for (const auto& [first, second] : pairs) {
    std::string text;
    std::size_t pieces = 0;
    std::int64_t tokens = -1;
    const std::string refused = refusal([&] {
      for (const std::string& one : {first, second}) {
        const CompletionAnswer alone = streamed({event(one), done});
        text += alone.text;
        pieces += alone.moments_ns.size();
        tokens = std::max(tokens, alone.output_tokens);
      }
    });
    EXPECT_EQ(refusal([&] {
                const CompletionAnswer both = streamed({event(first) + event(second), done});
                EXPECT_EQ(both.text, text) << second;
                EXPECT_EQ(both.moments_ns.size(), pieces) << second;
                EXPECT_EQ(both.output_tokens, tokens) << second;
              }),
              refused)
        << second;
  }
}

TEST(StreamedAnswer, MayLackItsEndButNotBoth) {
  EXPECT_EQ(streamed({a + stop}).text, "a");
  EXPECT_EQ(streamed({a + done + a}).text, "a") << "what follows [DONE] is not an answer";
  EXPECT_THAT(refusal([&] { streamed({a, a}); }), HasSubstr("ended before its answer did"));
  EXPECT_THAT(refusal([&] { streamed({"{\"choices\":[]}"}); }), HasSubstr("is not a stream of events; it begins with"));
}

TEST(StreamedAnswer, ErrorsInItAreTold) {
  EXPECT_THAT(refusal([&] { streamed({a, event(R"({"error":{"message":"no room\u001b[0m"}})")}); }),
              HasSubstr(R"(broke its answer off; it said "no room\u001b[0m")"));
  EXPECT_THAT(refusal([&] { streamed({event(R"({"choices":7})")}); }), HasSubstr("its choices are no list"));
  EXPECT_THAT(refusal([&] { streamed({event("{")}); }), HasSubstr("is not the JSON"));
  EXPECT_THAT(refusal([&] { streamed({event(R"({"usage":{"completion_tokens":1.5}})")}); }),
              HasSubstr("not a number of tokens"));
}

TEST(StreamedAnswer, BeginsAnew) {
  StreamedAnswer answer(Api::chat);
  for (int i = 0; i < 2; ++i) {
    answer.begin();
    answer.take(a + stop + (i == 0 ? usage : "") + "data: [DO", 1);
    if (i == 0) continue;
    EXPECT_THAT(answer.answer().moments_ns, SizeIs(1));
    EXPECT_EQ(answer.answer().output_tokens, -1);
  }
}

TEST(CompletionAnswer, InOnePiece) {
  const CompletionAnswer chat = answer_from(
      R"({"choices":[{"message":{"content":"ab"},"finish_reason":"length"}],"usage":{"completion_tokens":2}})",
      Api::chat);
  EXPECT_EQ(chat.text, "ab");
  EXPECT_EQ(chat.output_tokens, 2);
  EXPECT_THAT(chat.moments_ns, SizeIs(0));
  EXPECT_EQ(answer_from(R"({"choices":[{"text":"ab"}]})", Api::completions).text, "ab");
  EXPECT_THAT(refusal([] { static_cast<void>(answer_from("{}", Api::chat)); }), HasSubstr("it has no choices"));
}

// --- requests ------------------------------------------------------------------------------------------------------

TEST(CompletionRequest, SaysWhatIsWanted) {
  Settings settings;
  const auto chat = nlohmann::json::parse(completion_body(settings, "m", "hi \"you\"", 5));
  EXPECT_EQ(chat["messages"], nlohmann::json::parse(R"([{"role":"user","content":"hi \"you\""}])"));
  EXPECT_EQ(chat["stream_options"]["include_usage"], true);
  EXPECT_EQ(chat["max_tokens"], 5);
  EXPECT_FALSE(chat.contains("ignore_eos"));
  settings.api = Api::completions;
  settings.stream = false;
  settings.force_length = true;
  const auto plain = nlohmann::json::parse(completion_body(settings, "m", "hi", 5));
  EXPECT_EQ(plain["prompt"], "hi");
  EXPECT_EQ(plain["min_tokens"], 5);
  EXPECT_FALSE(plain.contains("stream_options"));
  EXPECT_THAT(refusal([&] { static_cast<void>(completion_body(settings, "m", "\xFF", 64)); }), HasSubstr("not UTF-8"));
}

TEST(Prompts, AreUnlikeFromTheirFirstWordsOn) {
  std::set<std::string> begins;
  for (std::uint64_t number = 0; number < 2000; ++number) begins.insert(synthetic_prompt(1, number, 12, 0));
  EXPECT_THAT(begins, SizeIs(2000));
  EXPECT_EQ(synthetic_prompt(1, 5, 12, 0), synthetic_prompt(1, 5, 12, 0));
  EXPECT_NE(synthetic_prompt(1, 5, 12, 0), synthetic_prompt(2, 5, 12, 0));
  EXPECT_EQ(synthetic_prompt(1, 5, 8, 8), synthetic_prompt(2, 6, 8, 8));
}

TEST(ModelList, KnowsTheModelOrNamesOthers) {
  constexpr const char* list = R"({"data":[{"id":"a","owned_by":"vllm"},{"id":"b"},{"id":7}]})";
  EXPECT_EQ(owner_in(list, "a"), "vllm");
  EXPECT_EQ(owner_in(list, "b"), "");
  EXPECT_EQ(owner_in(R"({"data":[]})", "c"), "") << "a list of none says nothing";
  EXPECT_EQ(owner_in("[]", "c"), "");
  EXPECT_EQ(owner_in(R"({"data":[{"id":"a","aliases":["c",7],"owned_by":"llamacpp"}]})", "c"), "llamacpp");
  EXPECT_THAT(refusal([&] { static_cast<void>(owner_in(R"({"data":[{"id":"a","aliases":"c"}]})", "c")); }),
              HasSubstr(R"(it has "a")"));
  EXPECT_THAT(refusal([&] { static_cast<void>(owner_in(list, "c")); }),
              HasSubstr(R"(has no model "c"; it has "a", "b")"));
}

// --- lengths -------------------------------------------------------------------------------------------------------

TEST(Lengths, AreNumbersOrDistributions) {
  EXPECT_EQ(Lengths::parse("128").mean(), 128);
  EXPECT_FALSE(Lengths::parse("128").vary());
  EXPECT_EQ(Lengths::parse("uniform:16:65").mean(), 40);
  EXPECT_EQ(Lengths::parse("uniform:16:65").most(), 65);
  EXPECT_EQ(Lengths::parse("normal:256:64").mean(), 256);
  EXPECT_EQ(Lengths::parse("normal:256:64").in_words(), "normal:256:64");
  for (const char* text : {"", "0", "1.5", "1000001", "normal", "normal:", "normal:256", "normal:256:0", "normal:0:1",
                           "normal:1:2:3", "normal:-1:2", "uniform:5:5", "uniform:6:5", "uniform:0:5",
                           "uniform:1:1000001", "gamma:2:2", "zeros", ":1:2", "uniform:1:0x2"})
    EXPECT_THROW(static_cast<void>(Lengths::parse(text)), std::invalid_argument) << text;
}

TEST(Lengths, AreTheSameEverywhere) {
  const auto drawn = [](const char* text, std::uint64_t stream) {
    std::vector<int> lengths;
    for (std::uint64_t number = 1; number <= 6; ++number)
      lengths.push_back(Lengths::parse(text).drawn(7, number, stream, 1));
    return lengths;
  };
  EXPECT_THAT(drawn("normal:256:64", prompt_stream), ElementsAre(214, 333, 353, 233, 262, 208));
  EXPECT_THAT(drawn("normal:256:64", answer_stream), ElementsAre(299, 249, 278, 200, 266, 264));
  EXPECT_THAT(drawn("uniform:16:64", prompt_stream), ElementsAre(51, 39, 60, 61, 57, 63));
}

TEST(Lengths, AreDistributedAsTheySay) {
  const Lengths normal = Lengths::parse("normal:256:64"), uniform = Lengths::parse("uniform:3:7");
  constexpr int count = 20'000;
  double sum = 0, squares = 0;
  std::map<int, int> times;
  for (std::uint64_t number = 0; number < count; ++number) {
    const int length = normal.drawn(1, number, prompt_stream, 1);
    EXPECT_LE(length, normal.most());
    sum += length;
    squares += static_cast<double>(length) * length;
    ++times[uniform.drawn(1, number, prompt_stream, 1)];
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 256, 4 * 64 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 64, 4 * 64 / std::sqrt(2 * count));
  EXPECT_EQ(times.size(), 5U);
  for (const auto& [length, often] : times) EXPECT_NEAR(often, count / 5, 5 * std::sqrt(count / 5)) << length;
}

TEST(Lengths, NoneIsShorterThanItMayBe) {
  const Lengths wide = Lengths::parse("normal:2:1000");
  for (std::uint64_t number = 0; number < 200; ++number) {
    EXPECT_GE(wide.drawn(1, number, prompt_stream, 1), 1);
    EXPECT_GE(wide.drawn(1, number, prompt_stream, 20), 20);
  }
}

// --- files of prompts ----------------------------------------------------------------------------------------------

TEST(PromptFile, LinesAreTexts) {
  const PromptFile file = prompts_in("\xEF\xBB\xBFone\r\n\n  \n {\"prompt\": 2}\nl\xC3\xA9on", false);
  EXPECT_THAT(file.prompts, ElementsAre("one", " {\"prompt\": 2}", "l\xC3\xA9on"));
  EXPECT_EQ(file.left_out, 0U);
}

TEST(PromptFile, ObjectsAreWhatIsAskedFirst) {
  const std::string entries[] = {
      R"({"prompt": "a", "messages": 3})",
      R"({"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "b"},
                       {"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]})",
      R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]}]})",
      R"({"id": "1", "conversations": [{"from": "gpt", "value": "x"}, {"from": "human", "value": "e"}]})",
      R"({"conversations": []})",
      R"({"prompt": ""})"};
  std::string lines, array;
  for (std::string entry : entries) {
    array += (array.empty() ? " [" : ", ") + entry;
    entry.erase(std::remove(entry.begin(), entry.end(), '\n'), entry.end());
    lines += entry + "\n";
  }
  for (const std::string& text : {lines, array + "]"}) {
    const PromptFile file = prompts_in(text, true);
    EXPECT_THAT(file.prompts, ElementsAre("a", "be brief\n\nb", "c\nd", "e"));
    EXPECT_EQ(file.left_out, 2U);
  }
}

TEST(PromptFile, WhatIsNoneIsRefusedWithItsPlace) {
  const auto json = [](std::string_view text) { return refusal([&] { static_cast<void>(prompts_in(text, true)); }); };
  const std::string good = R"({"prompt": "a"})";
  EXPECT_EQ(json(""), "there is no prompt in it");
  EXPECT_EQ(json("[]"), "there is no prompt in it");
  EXPECT_EQ(json(R"({"prompt": ""})"), "there is no prompt in it");
  EXPECT_THAT(json(good + "\n{\"prompt\""), HasSubstr("line 2 is not the JSON that it should be; it begins with"));
  EXPECT_EQ(json(good + "\n[]"), "line 2 contains no object");
  EXPECT_EQ(json("[" + good + ", 3]"), "entry 2 contains no object");
  EXPECT_EQ(json("[" + good + ", []]"), "entry 2 contains no object");
  EXPECT_EQ(json("[" + good), "what stands behind entry 1 is not the JSON that it should be");
  EXPECT_EQ(json("[" + good + "] x"), "what stands behind entry 1 is not the JSON that it should be");
  EXPECT_EQ(json(R"({"text": "a"})"), "line 1 has neither prompt nor messages nor conversations");
  EXPECT_EQ(json(R"({"prompt": ["a"]})"), "line 1 has a prompt that is not a text");
  EXPECT_EQ(json(R"({"messages": "a"})"), "line 1 has messages that are no list");
  EXPECT_EQ(json(R"({"messages": [{"role": "user"}]})"), "line 1 has a message without role or content");
  EXPECT_EQ(json(R"({"conversations": [7]})"), "line 1 has a message without from or value");
  EXPECT_EQ(json(R"({"messages": [{"role": "user", "content": 7}]})"), "line 1 has a message without a text");
  EXPECT_EQ(json(R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"),
            "line 1 has a message with a part that is not a text");
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  EXPECT_EQ(json("{\"prompt\": " + deep + "}"), "line 1 is nested too deeply");
  EXPECT_EQ(json("[{\"prompt\": " + deep + "}]"), "entry 1 is nested too deeply");
  EXPECT_EQ(refusal([] { static_cast<void>(prompts_in("a\n\xFF", false)); }), "line 2 is not UTF-8");
}

TEST(PromptOrder, AsksAllButTheFirstBeforeOneComesAgain) {
  const PromptOrder order(7, 40);
  std::set<std::size_t> asked;
  for (std::uint64_t request = 1; request < 40; ++request) asked.insert(order.at(request));
  EXPECT_THAT(asked, SizeIs(39));
  EXPECT_FALSE(asked.contains(0));
  EXPECT_EQ(order.at(40), order.at(1));
  EXPECT_NE(order.at(1) * 100 + order.at(2), PromptOrder(8, 40).at(1) * 100 + PromptOrder(8, 40).at(2));
  EXPECT_EQ(PromptOrder(7, 1).at(5), 0U);
  // python/infermeter/prompts.py has the same order.
  std::vector<std::size_t> few;
  for (std::uint64_t request = 1; request < 8; ++request) few.push_back(PromptOrder(7, 8).at(request));
  EXPECT_THAT(few, ElementsAre(1, 3, 5, 4, 6, 7, 2));
}

}  // namespace
}  // namespace infermeter::openai_test
