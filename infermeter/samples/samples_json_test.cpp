#include "infermeter/samples/samples_json.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace infermeter::samples_json_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr auto max_u64 = std::numeric_limits<std::uint64_t>::max();

// Every field set to something that is not its default.
Samples full_samples() {
  Samples s;
  s.subject = 3;
  s.process = 2;
  s.host_process = "4711@1732345678.25";
  s.position = 11;
  s.purpose = Purpose::leak;
  s.memory_bytes = {1e6, 2e6};
  s.started_at = 1795262400.125;
  s.wall_s = 4.5;
  s.end = TrialEnd::crashed;
  s.phase = Phase::timed;
  s.signal = 9;
  s.message = "killed \"here\"";
  s.usage = true;
  s.stderr_tail = "line\nline \u00e9";
  s.open_s = 0.1;
  s.load_s = 0.2;
  s.compile_s = 0.3;
  s.first_inference_s = 0.4;
  s.ready_s = 1.0 / 3;
  s.items_per_iteration = 8;
  s.warmup_iterations = 5000;
  s.clock = {"tsc", 3.7e-10, 2.1e-8, 12, 34, -5};
  s.memory = {1, 2, 3, max_u64, 5, 6, 7, 8, true};
  s.memory_timeline = {{0.5, Phase::load, 4096}};
  s.noise = {0.41, 0.01, 1.9, -1, 2, 3, 4, 0.2, 0.3, 2.1e9, 2.2e9, 50, 60, 5, 2};
  s.energy = {12.5, "no counters"};
  s.executed = {{"threads", "2"}, {"dtype", "float32"}, {"dtype", "again"}};
  s.counters = {{"hits", "1", 12.5}};
  s.outputs = {{"logits", "float32", {1, 1000}, 1, 2, 1000}};
  s.input_digest = max_u64;
  s.output_digest = max_u64 - 1;
  s.diagnostics = {{DiagnosticId::foreign_load, "others used 41 %", "a@b"}};
  return s;
}

struct BadField {
  const char* pointer;  // RFC 6901
  json value;
  const char* sentence;
};

LoadRecord full_load() {
  LoadRecord load;
  load.open_loop = true;
  load.clients = 64;
  load.samples = 8;
  load.due = 12, load.issued = 11, load.completed = 9, load.failed = 2, load.kept = 7;
  load.arrivals_s = 10.5, load.duration_s = 11.25;
  load.gave_up = true;
  load.response = {1e-9, {{1, 2}, {3, 4}}};
  load.service = {1e-9, {{0, 9}}};
  load.lag = {1e-9, {{1024, 1}}};
  load.late = {1e-9, {{LogHistogram::kBuckets - 1, 5}}};
  load.bin_s = 0.5;
  load.timeline = {{1, 2, 3, 4, 0.25}, {}};
  load.checked = 6, load.mismatched = 1, load.largest_difference = 0.125;
  load.max_rate = 40.5;
  load.steps = {{20, 100, 0.25, true}, {}};
  load.errors = {{"it is busy", 2}};
  load.error_kinds = {{"5xx", 2}};
  load.good = 4;
  return load;
}

GenerationRecord full_generation() {
  return {.answers = 9,
          .parts = 8,
          .counted = 7,
          .output_tokens = 60,
          .counted_by_server = 6,
          .prompts_counted = 5,
          .prompt_tokens = 40,
          .duration_s = 1.5,
          .ttft = {1e-9, {{1, 2}}},
          .itl = {1e-9, {{3, 4}}},
          .tpot = {1e-9, {{5, 6}}},
          .itl_by_position = {{1, 1, 1, 9, 0.01, {}}, {16, 17, 16.5, 18, 0.02, 0.03}},
          .ttft_by_prompt = {{8, 8, 8, 9, 0.25, {}}}};
}

TEST(SamplesJson, KeepsEveryField) {
  const Samples in = full_samples();
  const auto out = samples_from_json(samples_to_json(in));
  ASSERT_TRUE(out.ok()) << out.error().message;
  // The text holds every field (see HasAKeyForEveryField), so equal texts are equal records.
  EXPECT_EQ(samples_to_json(*out), samples_to_json(in));
  EXPECT_EQ(out->memory.rss_peak_inference, max_u64);
  EXPECT_EQ(out->input_digest, max_u64);
  EXPECT_EQ(out->output_digest, max_u64 - 1);
  EXPECT_EQ(*out->ready_s, 1.0 / 3);  // bit for bit
  EXPECT_EQ(out->executed, in.executed);
  EXPECT_EQ(out->noise.involuntary_switches, -1);
  EXPECT_EQ(out->end, TrialEnd::crashed);
  EXPECT_EQ(out->phase, Phase::timed);
  EXPECT_EQ(out->outputs[0].shape, (std::vector<std::int64_t>{1, 1000}));
  EXPECT_EQ(out->diagnostics[0].id, DiagnosticId::foreign_load);
}

TEST(SamplesJson, NoFieldOfAFullRecordIsLeftAtItsDefault) {
  const json full = json::parse(samples_to_json(full_samples()));
  const json empty = json::parse(samples_to_json(Samples{}));
  ASSERT_EQ(full.size(), empty.size());
  for (const auto& [key, value] : full.items()) EXPECT_NE(value, empty.value(key, json())) << key;
  for (const char* part : {"memory", "noise", "energy", "clock"}) {
    for (const auto& [key, value] : full[part].items()) EXPECT_NE(value, empty[part][key]) << part << '.' << key;
  }
}

TEST(SamplesJson, KeepsEveryFieldOfALoad) {
  Samples in = full_samples();
  in.load = full_load();
  const auto out = samples_from_json(samples_to_json(in));
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_EQ(out->load, in.load);
  EXPECT_EQ(samples_to_json(*out), samples_to_json(in));
  in.load = LoadRecord{};
  const json full = json::parse(samples_to_json(*out))["load"], empty = json::parse(samples_to_json(in))["load"];
  for (const auto& [key, value] : full.items()) EXPECT_NE(value, empty.value(key, json{})) << key;
}

TEST(SamplesJson, KeepsEveryFieldOfAGeneration) {
  Samples in = full_samples();
  in.generation = full_generation();
  const auto out = samples_from_json(samples_to_json(in));
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_EQ(out->generation, in.generation);
  const json full = json::parse(samples_to_json(in))["generation"];
  in.generation = GenerationRecord{};
  const json empty = json::parse(samples_to_json(in))["generation"];
  for (const auto& [key, value] : full.items()) EXPECT_NE(value, empty.value(key, json{})) << key;
  json written = json::parse(samples_to_json(in));
  written["generation"]["itl"]["counts"] = json{{3, 1}};
  EXPECT_THAT(samples_from_json(written.dump()).error().message, HasSubstr("'generation.itl.tick_s' is 0"));
}

TEST(SamplesJson, WithoutALoadThereIsNoKeyOfIt) {
  const json written = json::parse(samples_to_json(full_samples()));
  EXPECT_FALSE(written.contains("load") || written.contains("generation"));
}

class SamplesJsonBadLoad : public testing::TestWithParam<BadField> {};

TEST_P(SamplesJsonBadLoad, IsNamed) {
  Samples in = full_samples();
  in.load = full_load();
  json written = json::parse(samples_to_json(in));
  written[json::json_pointer(std::string("/load") + GetParam().pointer)] = GetParam().value;
  const auto read = samples_from_json(written.dump());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::io);
  EXPECT_THAT(read.error().message, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    All, SamplesJsonBadLoad,
    testing::Values(
        BadField{"/clients", 0, "'load.clients' is 0"}, BadField{"/samples", -1, "'load.samples' is -1"},
        BadField{"/good", 10, "'load.good' is more than 'load.completed'"},
        BadField{"/error_kinds", json::array({json::array({"6xx", 1})}), "'load.error_kinds' has an unknown kind"},
        BadField{"/due", max_u64, "'load.due' is more than"}, BadField{"/kept", 10, "more than 'load.completed'"},
        BadField{"/arrivals_s", -1, "'load.arrivals_s' is not a number of at least 0"},
        BadField{"/response/tick_s", 0, "'load.response.tick_s' is 0"},
        BadField{"/response/tick_s", -1e-9, "'load.response.tick_s' is not a duration"},
        BadField{"/response/counts", json{{3, 1}, {3, 1}}, "'load.response.counts' is not in ascending order"},
        BadField{"/lag/counts", json{{56320, 1}}, "has bucket 56320, and the last one is 56319"},
        BadField{"/late/counts", json{{1, 0}}, "has an empty bucket, 1"},
        BadField{"/late/counts", json{{1, max_u64}}, "'load.late.counts' are more than"},
        BadField{"/service/counts", json{{1, 9007199254740992}, {2, 1}}, "'load.service.counts' are more than"},
        BadField{"/service/counts", json{1, 2}, "'load.service.counts[0]' should be a list of two"},
        BadField{"/service/counts", json{{-1, 2}}, "'load.service.counts[0]' should be a whole number"},
        BadField{"/timeline", json(257, json::object()), "'load.timeline' has 257 bins, more than 256"},
        BadField{"/timeline/0/slowest_s", -1, "a response time that is none"},
        BadField{"/errors", json(10, json{"x", 1}), "'load.errors' has 10 texts, more than 9"},
        BadField{"/errors", json::array({json::array({std::string(1001, 'x'), 1})}),
                 "'load.errors' has a text of 1001 bytes"}));

TEST(SamplesJson, WhatWasNotMeasuredIsNull) {
  const json written = json::parse(samples_to_json(Samples{}));
  EXPECT_TRUE(written["load_s"].is_null());
  EXPECT_TRUE(written["memory"]["rss_before_load"].is_null());
  const auto read = samples_from_json(samples_to_json(Samples{}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->load_s, std::nullopt);
  EXPECT_EQ(read->memory.rss_before_load, std::nullopt);
}

TEST(SamplesJson, NeverHoldsNaNOrInfinity) {
  Samples s;
  s.wall_s = std::numeric_limits<double>::quiet_NaN();
  s.load_s = std::numeric_limits<double>::infinity();
  s.counters = {{"rate", "1", -std::numeric_limits<double>::infinity()}};
  const std::string text = samples_to_json(s);
  EXPECT_TRUE(json::accept(text)) << text;
  const auto read = samples_from_json(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->load_s, std::nullopt);
  EXPECT_EQ(read->wall_s, 0);
  EXPECT_TRUE(std::isnan(read->counters[0].value));  // and not 0, which would be a count
}

TEST(SamplesJson, BytesThatAreNoUtf8AreReplaced) {
  Samples s;
  s.stderr_tail = "bad \xff end";
  const auto read = samples_from_json(samples_to_json(s));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->stderr_tail, "bad \uFFFD end");
}

TEST(SamplesJson, UnknownKeysAreIgnored) {
  json written = json::parse(samples_to_json(full_samples()));
  written["from_the_future"] = {1, 2};
  written["memory"]["huge_pages"] = 4;
  const auto read = samples_from_json(written.dump());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(samples_to_json(*read), samples_to_json(full_samples()));
}

class SamplesJsonBadField : public testing::TestWithParam<BadField> {};

TEST_P(SamplesJsonBadField, IsNamed) {
  json written = json::parse(samples_to_json(full_samples()));
  written[json::json_pointer(GetParam().pointer)] = GetParam().value;
  const auto read = samples_from_json(written.dump());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::io);
  EXPECT_THAT(read.error().message, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    All, SamplesJsonBadField,
    testing::Values(BadField{"/subject", "0",
                             "'subject' should be a whole number from -2147483648 to 2147483647 but is of type string"},
                    BadField{"/subject", 3000000000, "'subject' should be a whole number"},
                    BadField{"/subject", 1.5, "but is 1.5"},
                    BadField{"/input_digest", -1,
                             "'input_digest' should be a whole number from 0 to 18446744073709551615 but is -1"},
                    BadField{"/wall_s", "long", "'wall_s' should be a number but is of type string"},
                    BadField{"/usage", 1, "'usage' should be true or false but is 1"},
                    BadField{"/message", json::array(), "'message' should be a text but is of type array"},
                    BadField{"/end", "exploded", "'end' is 'exploded', a name that this version does not know"},
                    BadField{"/end", 3, "'end' should be a name but is 3"},
                    BadField{"/memory", 3, "'memory' should be an object but is 3"},
                    BadField{"/memory/device_now", true, "'memory.device_now' should be a whole number"},
                    BadField{"/noise/steal", "x", "'noise.steal' should be a number"},
                    BadField{"/executed", json::object(), "'executed' should be a list but is of type object"},
                    BadField{"/executed/1", json{"one"}, "'executed[1]' should be a list of two texts"},
                    BadField{"/outputs/0/shape/1", "wide", "'outputs[0].shape[1]' should be a whole number"},
                    BadField{"/diagnostics/0/id", "sunspots", "'diagnostics[0].id' is 'sunspots'"},
                    BadField{"/counters/0", json::object(), "'counters[0].name' is missing"}));

TEST(SamplesJson, SaysWhatIsMissing) {
  for (const char* key : {"subject", "process", "end", "phase"}) {
    json written = json::parse(samples_to_json(full_samples()));
    written.erase(key);
    const auto read = samples_from_json(written.dump());
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_EQ(read.error().message, "the record of a trial cannot be read: '" + std::string(key) + "' is missing");
  }
}

TEST(SamplesJson, RefusesWhatIsNoObject) {
  EXPECT_EQ(samples_from_json("[1]").error().message, "the record of a trial should be an object but is of type array");
  for (const char* text : {"", "{", "{\"subject\":1e999}", "{}x", "\xff"}) {
    ASSERT_FALSE(samples_from_json(text).ok()) << text;
    EXPECT_THAT(samples_from_json(text).error().message, HasSubstr("is not valid JSON")) << text;
  }
}

TEST(SamplesJson, SurvivesDeepNestingAndCuts) {
  EXPECT_FALSE(samples_from_json("{\"subject\":" + std::string(200'000, '[')).ok());
  const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_FALSE(samples_from_json("{\"subject\":" + nested + "}").ok());
  const std::string text = samples_to_json(full_samples());
  constexpr std::size_t step = 5;
  for (std::size_t length = 0; length < text.size(); length += step) {
    EXPECT_FALSE(samples_from_json(std::string_view(text).substr(0, length)).ok()) << length;
  }
}

TEST(SamplesJson, EnvironmentKeepsEveryField) {
  Environment e;
  e.processor = "AMD EPYC";
  e.architecture = "x86_64";
  e.flags = {"avx2", "amx_bf16"};
  e.processors_online = 4, e.processors_usable = 2, e.quota_processors = 1.5;
  e.cores = 2, e.sockets = 1, e.numa_nodes = 3, e.smt_active = true;
  e.caches = {{"L1d", 32768, 2}};
  e.memory_total_bytes = max_u64, e.memory_available_bytes = 5, e.swap_used_bytes = 6;
  e.governor = "performance", e.turbo = false, e.aslr = 2;
  e.virtualization = "kvm", e.kernel = "6.1", e.distribution = "Debian", e.hostname = "h";
  e.load_1min = 0.25, e.perf_event_paranoid = -1, e.hardware_counters = true, e.invariant_tsc = true;
  e.landlock_abi = 7, e.seccomp = true, e.cgroup_v2 = true;
  e.infermeter_version = "0.1.0", e.build = "release", e.git_commit = "c0ffee";
  e.command = "infermeter run";
  e.nodes = {e};
  e.nodes[0].hostname = "n1";
  const auto read = environment_from_json(environment_to_json(e));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(environment_to_json(*read), environment_to_json(e));
  EXPECT_EQ(read->memory_total_bytes, max_u64);
  EXPECT_EQ(read->caches[0].shared_by, 2);
  ASSERT_EQ(read->nodes.size(), 1U);
  EXPECT_EQ(read->nodes[0].hostname, "n1");
  const json full = json::parse(environment_to_json(e));
  const json empty = json::parse(environment_to_json(Environment{}));
  for (const auto& [key, value] : full.items()) EXPECT_NE(value, empty.value(key, json())) << key;
  EXPECT_THAT(environment_from_json("{\"caches\":[{\"size_bytes\":-4}]}").error().message,
              HasSubstr("the record of the environment cannot be read: 'caches[0].size_bytes' should be"));
}

TEST(SamplesBytes, DoublesAreLittleEndian) {
  const std::vector<double> values = {1.0, -0.0, std::numeric_limits<double>::quiet_NaN()};
  const auto bytes = doubles_to_bytes(values);
  ASSERT_EQ(bytes.size(), 24U);
  EXPECT_EQ(bytes[7], std::byte{0x3f});  // 1.0 = 0x3ff0000000000000, its last byte first in memory's end
  EXPECT_EQ(bytes[6], std::byte{0xf0});
  EXPECT_EQ(bytes[0], std::byte{0});
  const auto back = doubles_from_bytes(bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ((*back)[0], 1.0);
  EXPECT_TRUE(std::signbit((*back)[1]));
  EXPECT_TRUE(std::isnan((*back)[2]));
  EXPECT_TRUE(doubles_from_bytes({}).value().empty());
  EXPECT_THAT(doubles_from_bytes(std::span(bytes).first(23)).error().message, HasSubstr("23 bytes long"));
}

TEST(SamplesNames, GoBothWays) {
  for (const char* name : {"ok", "load_failed", "run_failed", "crashed", "timeout", "out_of_memory", "interrupted"}) {
    ASSERT_TRUE(trial_end_from_string(name)) << name;
    EXPECT_EQ(to_string(*trial_end_from_string(name)), name);
  }
  for (const char* name :
       {"start", "load", "compile", "inputs", "first_inference", "warmup", "timed", "outputs", "done"}) {
    ASSERT_TRUE(phase_from_string(name)) << name;
    EXPECT_EQ(to_string(*phase_from_string(name)), name);
  }
  EXPECT_EQ(trial_end_from_string("fine"), std::nullopt);
  EXPECT_EQ(phase_from_string(""), std::nullopt);
}

TEST(SamplesValues, LatenciesAreEndLessBegin) {
  Samples s;
  s.begin_s = {1, 2, 3};
  s.end_s = {1.5, 2.25};  // cut short: only whole iterations count
  EXPECT_EQ(latencies_s(s), (std::vector<double>{0.5, 0.25}));
  s.executed = {{"threads", "2"}};
  EXPECT_EQ(s.executed_value("threads"), "2");
  EXPECT_EQ(s.executed_value("device"), "");
}

}  // namespace
}  // namespace infermeter::samples_json_test
