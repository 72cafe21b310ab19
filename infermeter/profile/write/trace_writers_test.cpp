#include "infermeter/profile/write/trace_writers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>
#include <sstream>

#include "infermeter/profile/read/stack_readers.hpp"
#include "infermeter/profile/write/frame_text.hpp"
#include "infermeter/profile/write/test_traces.hpp"
#include "infermeter/profile/write/trace_labels.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter::trace_writers_test {
namespace {

using Json = nlohmann::json;

TraceFile trace_of_example(const std::string& subject = "a@b") {
  static const Samples samples = test::trace_samples(2, 0.01);
  static const OperatorProfile profile = test::trace_profile();
  const std::vector<TraceSource> sources = {{.subject = subject, .trial = {&samples, &profile}, .stacks = nullptr}};
  return trace_of(sources);
}

TraceFile trace_with_names(const std::string& name) {
  const Samples samples = test::trace_samples(2, 0.01);
  OperatorProfile profile = test::trace_profile();
  for (ProfiledOperator& op : profile.operators) op.name = op.kind = op.kernel = op.shapes = name;
  const std::vector<TraceSource> sources = {{.subject = name, .trial = {&samples, &profile}, .stacks = nullptr}};
  return trace_of(sources);
}

// ---- Perfetto: read back field by field, as its own protos number them ----

struct Packet {
  std::uint64_t at_ns = 0, sequence = 0, flags = 0;
  std::uint64_t type = 0, track = 0, name_iid = 0, category_iid = 0;
  double count = 0;
  std::vector<std::string> annotations;
  std::string descriptor, interned;
};

Packet packet_of(protozero::pbf_reader reader) {
  Packet packet;
  while (reader.next()) {
    switch (reader.tag()) {
      case 8: packet.at_ns = reader.get_uint64(); break;
      case 10: packet.sequence = reader.get_uint32(); break;
      case 12: packet.interned = reader.get_string(); break;
      case 13: packet.flags = reader.get_uint32(); break;
      case 60: packet.descriptor = reader.get_string(); break;
      case 11: {
        auto event = reader.get_message();
        while (event.next()) {
          switch (event.tag()) {
            case 3: packet.category_iid = event.get_uint64(); break;
            case 4: packet.annotations.push_back(event.get_string()); break;
            case 9: packet.type = static_cast<std::uint64_t>(event.get_enum()); break;
            case 10: packet.name_iid = event.get_uint64(); break;
            case 11: packet.track = event.get_uint64(); break;
            case 44: packet.count = event.get_double(); break;
            default: ADD_FAILURE() << "event field " << event.tag(); event.skip();
          }
        }
        break;
      }
      default: ADD_FAILURE() << "packet field " << reader.tag(); reader.skip();
    }
  }
  return packet;
}

std::vector<Packet> packets_of(const std::string& bytes) {
  std::vector<Packet> packets;
  protozero::pbf_reader trace(bytes);
  while (trace.next(1)) packets.push_back(packet_of(trace.get_message()));
  return packets;
}

std::map<std::uint64_t, std::string> interned(const std::string& data, protozero::pbf_tag_type field) {
  std::map<std::uint64_t, std::string> texts;
  protozero::pbf_reader reader(data);
  while (reader.next()) {
    if (reader.tag() != field) {
      reader.skip();
      continue;
    }
    auto entry = reader.get_message();
    std::uint64_t number = 0;
    while (entry.next()) {
      if (entry.tag() == 1) {
        number = entry.get_uint64();
      } else {
        texts[number] = entry.get_string();
      }
    }
  }
  return texts;
}

TEST(PerfettoTrace, BeginsAndEndsEverySlice) {
  const std::vector<Packet> packets = packets_of(perfetto_trace(trace_of_example()));
  const auto names = interned(packets.at(0).interned, 2), categories = interned(packets.at(0).interned, 1);
  EXPECT_EQ(packets[0].flags, 3U) << "the sequence's texts begin here";
  std::map<std::uint64_t, std::vector<std::string>> open;
  std::map<std::string, std::uint64_t> total_ns;
  std::vector<std::uint64_t> begins;
  for (const Packet& packet : packets) {
    EXPECT_EQ(packet.sequence, 1U);
    EXPECT_NE(packet.flags & 2U, 0U);
    if (packet.type == 1) {
      open[packet.track].push_back(names.at(packet.name_iid));
      EXPECT_TRUE(categories.contains(packet.category_iid));
      begins.push_back(packet.at_ns);
      if (packet.track == open.begin()->first) total_ns[open[packet.track].back()] -= packet.at_ns;
    }
    if (packet.type == 2) {
      ASSERT_FALSE(open[packet.track].empty());
      if (packet.track == open.begin()->first) total_ns[open[packet.track].back()] += packet.at_ns;
      open[packet.track].pop_back();
    }
  }
  for (const auto& [track, names_left] : open) EXPECT_TRUE(names_left.empty()) << track;
  EXPECT_EQ(open.size(), 2U);
  EXPECT_EQ(begins.size(), 10U);
  EXPECT_EQ(total_ns["iteration"], 20'000'000U);
  EXPECT_EQ(total_ns["conv1"], 8'000'000U) << "of the main thread";
  EXPECT_EQ(total_ns["fc"], 10'000'000U);
}

TEST(PerfettoTrace, DescribesProcessThreadsAndCounters) {
  std::string all;
  std::vector<double> counts;
  for (const Packet& packet : packets_of(perfetto_trace(trace_of_example()))) {
    all += packet.descriptor;
    if (packet.type == 4) counts.push_back(packet.count);
  }
  for (const char* part : {"a@b, process 1", "main thread", "thread 7", "arena, peak"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part;
  }
  EXPECT_THAT(counts, testing::ElementsAre(5e6, 6e6, 5e6, 6e6));
}

TEST(PerfettoTrace, IsValidWhateverTheNames) {
  for (const std::string& name : test::hostile_texts()) {
    const std::vector<Packet> packets = packets_of(perfetto_trace(trace_with_names(name)));
    for (const protozero::pbf_tag_type field : {1, 2, 3, 29}) {
      for (const auto& [number, text] : interned(packets.at(0).interned, field)) EXPECT_EQ(valid_utf8(text), text);
    }
    EXPECT_EQ(packets.size(), 1U + 3U + 20U + 1U + 4U);
  }
}

TEST(PerfettoTrace, SaysATextOnce) {
  const std::string bytes = perfetto_trace(trace_of_example());
  EXPECT_NE(bytes.find("jit_avx512_f32"), std::string::npos);
  EXPECT_EQ(bytes.find("jit_avx512_f32"), bytes.rfind("jit_avx512_f32"));
}

// ---- speedscope: what its file-format-schema.json asks for ----

void check_evented(const Json& profile, std::size_t frames) {
  ASSERT_EQ(profile.at("unit"), "nanoseconds");
  std::vector<std::size_t> open;
  double latest = profile.at("startValue");
  for (const Json& event : profile.at("events")) {
    ASSERT_GE(event.at("at"), latest);
    latest = event.at("at");
    ASSERT_LT(event.at("frame"), frames);
    if (event.at("type") == "O") open.push_back(event.at("frame"));
    if (event.at("type") == "C") {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), event.at("frame"));
      open.pop_back();
    }
  }
  ASSERT_TRUE(open.empty());
  ASSERT_EQ(profile.at("endValue"), latest);
}

TEST(Speedscope, OpensAndClosesFramesInOrder) {
  const Json file = Json::parse(speedscope_profile(trace_of_example()));
  EXPECT_EQ(file.at("$schema"), "https://www.speedscope.app/file-format-schema.json");
  ASSERT_EQ(file.at("profiles").size(), 2U);
  for (const Json& profile : file.at("profiles")) check_evented(profile, file.at("shared").at("frames").size());
  EXPECT_EQ(file.at("profiles")[0].at("name"), "a@b, process 1, main thread");
  EXPECT_EQ(file.at("profiles")[0].at("endValue"), 21'000'000);
  const Json& event = file.at("profiles")[0].at("events")[1];
  EXPECT_EQ(event.at("at"), 500'000);
  EXPECT_EQ(file.at("shared").at("frames")[event.at("frame").get<std::size_t>()],
            Json({{"name", "conv1"}, {"file", "Conv"}}));
}

TEST(Speedscope, IsJsonWhateverTheNames) {
  for (const std::string& name : test::hostile_texts()) {
    const Json file = Json::parse(speedscope_profile(trace_with_names(name)));
    for (const Json& profile : file.at("profiles")) check_evented(profile, file.at("shared").at("frames").size());
  }
}

TEST(Speedscope, HasSampledStacks) {
  const StackProfile stacks = *parse_perf_script(
      "a 1 2.5: 3000000 cpu-clock: \n\t 12 f (x)\n\t 13 main (x)\n\na 1 2.6: 1000000 cpu-clock: \n\t 13 main (x)\n\n");
  TraceFile trace = trace_of_example();
  trace.processes[0].stacks = stacks;
  const Json file = Json::parse(speedscope_profile(trace));
  const Json& profile = file.at("profiles").at(2);
  EXPECT_EQ(profile.at("type"), "sampled");
  EXPECT_EQ(profile.at("unit"), "seconds");
  EXPECT_EQ(profile.at("weights"), Json({0.003, 0.001}));
  EXPECT_EQ(profile.at("endValue"), 0.004);
  const auto name = [&](std::size_t i, std::size_t k) {
    return file.at("shared").at("frames").at(profile.at("samples").at(i).at(k).get<std::size_t>()).at("name");
  };
  EXPECT_EQ(name(0, 0), "main");
  EXPECT_EQ(name(0, 1), "f");
}

// ---- Collapsed stacks ----

TEST(CollapsedTrace, IsOwnTimeOfEveryStack) {
  EXPECT_EQ(collapsed_stacks(trace_of_example()),
            "a@b;iteration 2000\n"
            "a@b;iteration;Conv;conv1 6000\n"
            "a@b;iteration;Conv;conv1;reorder 2000\n"
            "a@b;iteration;Gemm;fc 10000\n"
            "a@b;thread 7;Conv;conv1 6000\n");
}

TEST(CollapsedTrace, ProcessesOfASubjectAreOneStack) {
  TraceFile trace = trace_of_example();
  trace.processes.push_back(trace.processes[0]);
  EXPECT_NE(collapsed_stacks(trace).find("a@b;iteration;Gemm;fc 20000\n"), std::string::npos);
}

TEST(CollapsedTrace, AMeanWeighsWhatItsIterationsWould) {
  const Samples samples = test::trace_samples(4, 0.01);
  OperatorProfile profile;
  profile.operators = {test::trace_operator("a", "A")};
  profile.mean_s = {0.003};
  profile.mean_calls = {1};
  const std::vector<TraceSource> sources = {{.subject = "s", .trial = {&samples, &profile}, .stacks = nullptr}};
  EXPECT_EQ(collapsed_stacks(trace_of(sources)),
            "s;mean iteration, laid out from sums 28000\ns;mean iteration, laid out from sums;A;a 12000\n");
}

TEST(CollapsedTrace, IsReadBackWhateverTheNames) {
  for (const std::string& name : test::hostile_texts()) {
    const std::string text = collapsed_stacks(trace_with_names(name));
    const auto stacks = parse_collapsed_stacks(text);
    ASSERT_TRUE(stacks.ok()) << stacks.error().message;
    double main_us = 0;
    for (const StackSample& sample : stacks->samples) {
      const std::string& second = stacks->frames.at(sample.frames.at(1)).symbol;
      ASSERT_TRUE(second == "iteration" || second == "thread 7") << name;
      if (second == "iteration") main_us += sample.weight;
    }
    EXPECT_EQ(main_us, 20'000) << "adds up to the wall time";
  }
}

TEST(FrameText, NamesWhatHasNoSymbol) {
  EXPECT_EQ(frame_text({.symbol = "f", .module = "/a/b.so", .offset = 1}), "f");
  EXPECT_EQ(frame_text({.symbol = "", .module = "/a/b.so", .offset = 0x10}), "[b.so+0x10]");
  EXPECT_EQ(frame_text({.symbol = "", .module = "/a/b.so"}), "[b.so]");
  EXPECT_EQ(frame_text({}), "[unknown]");
}

}  // namespace
}  // namespace infermeter::trace_writers_test
