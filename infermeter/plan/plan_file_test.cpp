#include "infermeter/plan/plan_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "infermeter/plan/setting.hpp"
#include "infermeter/plan/subject.hpp"

namespace infermeter::plan_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

Plan read(std::string_view text, const Plan& base = {}) {
  auto plan = plan_from_toml(text, "p.toml", base);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().message);
  return plan ? *plan : Plan{};
}

std::string error_of(std::string_view text) {
  const auto plan = plan_from_toml(text, "p.toml", {});
  return plan ? "no error" : plan.error().message;
}

TEST(PlanFromToml, ReadsEverySetting) {
  const Plan p = read(R"(
models = ["resnet50", "a.onnx"]
backends = ["onnxruntime", "openvino"]
batch_sizes = [1, 4]
dtype = "float16"
device = "cpu"
threads = 2
warmup = 3
duration = "1m"
processes = 5
seed = 7
data_seed = 8
data = "images"
data_limit = 9
labels = "truth.txt"
outliers = "iqr:1.5"
load_timeout = 4.5
run_timeout = "90s"
memory_limit = "2GB"
sandbox = "strict"
cpus = "0-1"
compare_outputs = false
output_dir = "out"
backend_path = "plugins"
backend_library = "x.so"
format = "json"
[dimensions]
height = 512
[options]
graph = "basic"
profiling = true
factor = 0.5
[distribution]
ids = "integers:0:9"
)",
                      Plan{.allow_code = true});
  ASSERT_EQ(p.subjects.size(), 8U);
  const Subject& s = p.subjects[3];
  EXPECT_EQ(s.label, "resnet50@openvino,batch=4");
  EXPECT_EQ(s.dtype, Precision::float16);
  EXPECT_EQ(s.device, "cpu");
  EXPECT_EQ(s.threads, 2);
  EXPECT_EQ(s.backend_library, "x.so");
  EXPECT_THAT(s.dimensions, ElementsAre(Pair("height", "512")));
  EXPECT_THAT(s.options, ElementsAre(Pair("factor", "0.5"), Pair("graph", "basic"), Pair("profiling", "true")));
  EXPECT_EQ(p.stopping.warmup, 3);
  EXPECT_FALSE(p.stopping.iterations.has_value());
  EXPECT_EQ(p.stopping.duration_s, 60);
  EXPECT_EQ(p.processes, 5);
  EXPECT_EQ(p.seed, 7U);
  EXPECT_EQ(p.data.seed, 8U);
  EXPECT_EQ(p.data.source, "images");
  EXPECT_EQ(p.data.limit, 9);
  EXPECT_THAT(p.data.distributions, ElementsAre(Pair("ids", "integers:0:9")));
  EXPECT_EQ(to_string(p.outliers), "iqr:1.5");
  EXPECT_EQ(p.limits.load_timeout_s, 4.5);
  EXPECT_EQ(p.limits.run_timeout_s, 90);
  EXPECT_EQ(p.limits.memory_limit_bytes, 2'000'000'000U);
  EXPECT_EQ(p.sandbox, Sandbox::strict);
  EXPECT_THAT(p.cpus, ElementsAre(0, 1));
  EXPECT_FALSE(p.compare_outputs);
  EXPECT_EQ(p.output_dir, "out");
  EXPECT_EQ(p.backend_path, "plugins");
  EXPECT_EQ(p.order.size(), 8U * 5U);
}

TEST(PlanFromToml, SubjectsHaveTheirOwnOptions) {
  const Plan p = read(R"(
subjects = ["mlp@fake,threads=1"]
threads = 2
[options]
shared = "yes"
[[subject]]
label = "tuned"
model = "mlp"
backend = "openvino"
batch_size = 4
dtype = "bfloat16"
group = 3
options = { hint = "none", streams = 1, shared = "no" }
dimensions = { height = 32 }
)");
  ASSERT_EQ(p.subjects.size(), 2U);
  EXPECT_EQ(p.subjects[0].threads, 1);
  EXPECT_THAT(p.subjects[0].options, ElementsAre(Pair("shared", "yes")));
  const Subject& tuned = p.subjects[1];
  EXPECT_EQ(tuned.label, "tuned");
  EXPECT_EQ(tuned.threads, 2);
  EXPECT_EQ(tuned.batch_size, 4);
  EXPECT_EQ(tuned.dtype, Precision::bfloat16);
  EXPECT_EQ(tuned.group, 1);
  EXPECT_THAT(tuned.options, ElementsAre(Pair("shared", "no"), Pair("hint", "none"), Pair("streams", "1")));
  EXPECT_THAT(tuned.dimensions, ElementsAre(Pair("height", "32")));
}

TEST(PlanFromToml, ReadsEnvironmentVariablesButNoneByWhichCodeCouldCome) {
  const Plan p = read(R"(
env = { OMP_WAIT_POLICY = "PASSIVE" }
[[subject]]
model = "mlp"
backend = "fake"
env = { OMP_NUM_THREADS = 1 }
)");
  EXPECT_THAT(p.subjects[0].environment, ElementsAre(Pair("OMP_WAIT_POLICY", "PASSIVE"), Pair("OMP_NUM_THREADS", "1")));
  const auto again = plan_from_json(plan_to_json(p));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value().subjects[0].environment, p.subjects[0].environment);
  for (const char* const name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "GLIBC_TUNABLES", "OMP_TOOL_LIBRARIES",
                                 "CUDA_INJECTION64_PATH", "XLA_FLAGS", "PJRT_NAMES_AND_LIBRARY_PATHS",
                                 "OV_FRONTEND_PATH", "OPENSSL_CONF", "omp_num_threads", "ANYTHING"}) {
    PlanDraft draft;
    const auto refused = apply_toml(draft, fmt::format("env = {{ {} = \"/x\" }}", name), "plan.toml", TomlKind::plan);
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("give --env {}=", name)));
    const std::string text = fmt::format("subjects = [\"mlp@fake,env.{}=/x\"]", name);
    ASSERT_FALSE(apply_toml(draft, text, "plan.toml").ok()) << name;
  }
}

TEST(PlanFromToml, BaseGivesTheRest) {
  Plan base{.subjects = {{.model = "mlp", .backend = "fake"}}, .processes = 9};
  EXPECT_EQ(read("seed = 4", base).processes, 9);
  EXPECT_EQ(read("seed = 4", base).subjects[0].label, "mlp@fake");
  EXPECT_EQ(read("models = [\"m\"]\nbackends = \"x\"", base).subjects[0].label, "m@x");
}

TEST(PlanFromToml, NamesLineAndColumn) {
  EXPECT_EQ(error_of("warmup = 1\niteratons = 3\n"),
            "p.toml:2:1: unknown key 'iteratons' (did you mean 'iterations'?)");
  EXPECT_EQ(error_of("qqqqq = 3\n"), "p.toml:1:1: unknown key 'qqqqq'");
  EXPECT_EQ(error_of("\n  leak_iterations = \"3\""),
            "p.toml:2:21: 'leak_iterations' needs a whole number, got a string");
  EXPECT_EQ(error_of("\n  processes = \"some\""),
            "p.toml:2:15: processes: expected auto, or a whole number from 1 to 10000, got 'some'");
  EXPECT_EQ(error_of("iterations = 0"),
            "p.toml:1:14: iterations: expected auto, or a whole number of at least 1, got '0'");
  EXPECT_EQ(error_of("warmup = \"nil\""),
            "p.toml:1:10: warmup: expected auto or none, or a whole number of at least 0, got 'nil'");
  EXPECT_EQ(error_of("load_timeout = -1"),
            "p.toml:1:16: load_timeout: expected a time such as 30s, 5m or 250ms (not negative), got '-1'");
  EXPECT_EQ(error_of("duration = 0"), "p.toml:1:12: duration: expected a time above 0, such as 30s, got '0'");
  EXPECT_EQ(error_of("batch_sizes = [1,\n 0]"),
            "p.toml:1:15: batch_sizes: expected a whole number from 1 to 1000000, got '0'");
  EXPECT_EQ(error_of("batch_sizes = [1,\n \"x\"]"), "p.toml:2:2: 'batch_sizes' needs a whole number, got a string");
  EXPECT_EQ(error_of("iterations = 1\nduration = 2"), "p.toml:2:12: 'iterations' and 'duration' exclude each other");
  EXPECT_EQ(error_of("options = 3"), "p.toml:1:11: 'options' needs a table, got a whole number");
  EXPECT_EQ(error_of("[options]\nx = [1]"), "p.toml:2:5: 'options.x' needs a whole number or a string, got an array");
  EXPECT_EQ(error_of("compare_outputs = \"yes\""), "p.toml:1:19: 'compare_outputs' needs true or false, got a string");
  EXPECT_EQ(error_of("seed = 2020-01-01"), "p.toml:1:8: 'seed' needs a whole number, got a date or time");
  EXPECT_EQ(error_of("models = []"), "p.toml:1:10: models: expected at least one value, got none");
  EXPECT_EQ(error_of("dtype = \"int8\""),
            "p.toml:1:9: dtype: unknown dtype 'int8'; there are float32, float16, bfloat16");
  EXPECT_THAT(error_of("subjects = [\"mlp\"]"), StartsWith("p.toml:1:12: subjects: subject 'mlp': it has no back end"));
  EXPECT_THAT(error_of("x = = 3"), StartsWith("p.toml:1:5: "));
  EXPECT_THAT(error_of("seed = 1\nseed = 2"), StartsWith("p.toml:2:"));
}

TEST(PlanFromToml, NamesLineAndColumnOfSubjects) {
  const std::string head = "[[subject]]\nmodel = \"m\"\nbackend = \"fake\"\n";
  EXPECT_EQ(error_of(head + "thread = 3"), "p.toml:4:1: unknown key 'thread' (did you mean 'threads'?)");
  EXPECT_EQ(error_of(head + "batch_size = 0"),
            "p.toml:4:14: batch_size: expected a whole number from 1 to 1000000, got '0'");
  EXPECT_EQ(error_of(head + "batch_size = 1.5"), "p.toml:4:14: 'batch_size' needs a whole number, got a fraction");
  EXPECT_EQ(error_of(head + "options = 1"), "p.toml:4:11: 'options' needs a table, got a whole number");
  EXPECT_EQ(error_of("[[subject]]\nmodel = \"m\""), "p.toml:1:1: this [[subject]] has no 'backend'");
  EXPECT_EQ(error_of("subject = 1"), "p.toml:1:11: 'subject' needs tables: write [[subject]] before each one's keys");
}

TEST(PlanFromToml, WhatOnlyTheWholePlanShowsNamesTheFile) {
  EXPECT_THAT(error_of(""), StartsWith("p.toml: nothing to measure"));
  EXPECT_EQ(error_of("models = [\"m\"]"), "p.toml: model m has no back end: add, for example, --backend onnxruntime");
  EXPECT_THAT(error_of("backends = [\"x\"]"), StartsWith("p.toml: back end x has no model"));
  EXPECT_THAT(error_of(std::string(2 << 20, '#')), HasSubstr("bytes are more than"));
  std::string many = "models = [\"m\"]\nbackends = [\"x\"]\nbatch_sizes = [1";
  for (int i = 0; i < 20'000; ++i) many += ",1";
  EXPECT_THAT(error_of(many + "]"), HasSubstr("20001 subjects are more than"));
}

TEST(PlanFromToml, SurvivesAnything) {
  EXPECT_TRUE(rc::check([](const std::string& text) { (void)plan_from_toml(text, "p.toml", {}); }));
  (void)plan_from_toml(std::string(100'000, '['), "p.toml", {});
  (void)plan_from_toml("a = " + std::string(100'000, '['), "p.toml", {});
  (void)plan_from_toml("a" + std::string(100'000, '.'), "p.toml", {});
}

TEST(Settings, CoverEveryKeyOnce) {
  for (const Setting& setting : settings()) {
    EXPECT_EQ(find_setting(setting.key), &setting);
    EXPECT_EQ(setting.shape == Setting::Shape::pairs, setting.pairs != nullptr);
    EXPECT_EQ(setting.shape == Setting::Shape::pairs, setting.apply == nullptr);
  }
}

TEST(Settings, AFileThatIsReadUnaskedMayNotSayWhatIsLoaded) {
  PlanDraft draft;
  EXPECT_TRUE(apply_toml(draft, "iterations = 7", "infermeter.toml", TomlKind::ambient).ok());
  EXPECT_EQ(draft.plan.stopping.iterations, 7);
  for (const char* text : {"backend_path = \"x\"", "backend_library = \"x\"", "models = [\"x\"]", "options = {a=1}"}) {
    EXPECT_THAT(apply_toml(draft, text, "infermeter.toml", TomlKind::ambient).error().message,
                HasSubstr("is allowed in a plan file only"));
  }
  EXPECT_THAT(apply_toml(draft, "[[subject]]\n", "infermeter.toml", TomlKind::ambient).error().message,
              HasSubstr("'subject' is allowed in a plan file only"));
}

TEST(Settings, NoFileMayAllowCode) {
  for (const TomlKind kind : {TomlKind::plan, TomlKind::ambient}) {
    PlanDraft draft;
    EXPECT_EQ(apply_toml(draft, "seed = 1\nallow_code = true", "p.toml", kind).error().message,
              "p.toml:2:14: 'allow_code' may be set on the command line only (--allow-code): a file that came with a "
              "model could vouch for it");
    EXPECT_FALSE(draft.plan.allow_code);
  }
}

TEST(Settings, AFileMayAskForAStricterSandboxOnly) {
  for (const TomlKind kind : {TomlKind::plan, TomlKind::ambient}) {
    PlanDraft draft;
    EXPECT_EQ(apply_toml(draft, "sandbox = 'off'", "p.toml", kind).error().message,
              "p.toml:1:11: sandbox = 'off' may be set on the command line only (--sandbox off): a file that came with "
              "a model could ask for it");
    draft.plan.sandbox = Sandbox::off;  // of a variable
    ASSERT_TRUE(apply_toml(draft, "sandbox = 'strict'", "p.toml", kind).ok());
    EXPECT_EQ(draft.plan.sandbox, Sandbox::strict);
    ASSERT_TRUE(apply_toml(draft, "sandbox = 'auto'", "p.toml", kind).ok());
    EXPECT_EQ(draft.plan.sandbox, Sandbox::strict) << "what is asked for already is stricter";
  }
}

TEST(MakePlan, LibrariesAndFoldersThatAPlanFileNamesMustBeAllowed) {
  const std::string subject = "[[subject]]\nmodel = \"a\"\nbackend = \"x\"\n";
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"backend_library = \"evil.so\"\n" + subject, "a library of a back end, 'evil.so'"},
           {subject + "backend_library = \"evil.so\"", "a library of a back end, 'evil.so'"},
           {"subjects = [\"a@x,library=evil.so\"]", "a library of a back end, 'evil.so'"},
           {"backend_path = \"evil\"\n" + subject, "a folder of back ends, 'evil'"}}) {
    PlanDraft draft;
    ASSERT_TRUE(apply_toml(draft, text, "p.toml").ok()) << text;
    EXPECT_THAT(make_plan(draft).error().message, testing::AllOf(HasSubstr(what), HasSubstr("add --allow-code")));
    draft.plan.allow_code = true;
    EXPECT_TRUE(make_plan(draft).ok()) << text;
  }
  PlanDraft draft;
  ASSERT_TRUE(apply_toml(draft, "backend_library = \"evil.so\"\nbackend_path = \"evil\"\n" + subject, "p.toml").ok());
  const std::vector<std::string> own = {"mine.so"}, folder = {"mine"};
  ASSERT_TRUE(apply_setting(*find_setting("backend_library"), draft, own).ok());
  ASSERT_TRUE(apply_setting(*find_setting("backend_path"), draft, folder).ok());
  EXPECT_TRUE(make_plan(draft).ok()) << "what the command line names takes their place";
}

TEST(PlanFromToml, KeysAndBracketsThatAreNestedTooDeeplyAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 50'000; ++i) key += ".a";
  for (const std::string& text :
       {key + " = 1", "[" + key + "]", "x = {" + key + " = 1}", "\"\" . " + key + " = 1", "[[" + key + "]]",
        "x = " + std::string(50'000, '['), "x = [{y = " + std::string(50'000, '[')})
    EXPECT_THAT(error_of("\n" + text), testing::AllOf(StartsWith("p.toml:2:"), HasSubstr("nested too deeply")))
        << text[0];
  const std::string dots = std::string(1000, '.');
  EXPECT_THAT(error_of("nothing = [\"" + dots + "\", '" + dots + "', 1.5, 2.5] # " + dots + "\n"),
              HasSubstr("'nothing'"));
  EXPECT_THAT(error_of("nothing = \"\"\"\n" + dots + "\\\"\"\"\"\n"), HasSubstr("'nothing'"));
  EXPECT_THAT(error_of(""), HasSubstr("nothing to measure"));
  for (const std::string text : {"seed = 1\n[\n", "seed = 1\n[[ \x01]]", "seed = 1\n [", "seed = 1\n[=]"})
    EXPECT_THAT(error_of(text), HasSubstr("a table's name is missing behind '['")) << text;
  EXPECT_THAT(error_of("seed = 1\nf\xc3\xa9 = 2"), HasSubstr(":2:2: letters beyond ASCII stand in quotes"));
  EXPECT_THAT(error_of("seed = \xc3\xa9"), HasSubstr("letters beyond ASCII stand in quotes"));
  EXPECT_THAT(error_of("seed = \"\xdf y\""), HasSubstr("the text is not UTF-8"));
  EXPECT_THAT(error_of("# \xc3\xa9\nnothing = \"\xc3\xa9\""), HasSubstr("'nothing'"));
}

TEST(MakePlan, CodeThatAPlanFileNamesMustBeAllowed) {
  for (const std::string text :
       {"models = [\"vit\", \"m.n:make\"]\nbackends = [\"x\"]", "subjects = [\"a=m.n:make@x\"]",
        "[[subject]]\nmodel = \"m.n:make\"\nbackend = \"x\""}) {
    PlanDraft draft;
    ASSERT_TRUE(apply_toml(draft, text, "p.toml").ok());
    const auto refused = make_plan(draft);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(
        refused.error().message,
        "the plan file names a model that is Python code, 'm.n:make': if you trust it, add --allow-code or name it "
        "on the command line");
    draft.plan.allow_code = true;
    EXPECT_TRUE(make_plan(draft).ok());
    EXPECT_TRUE(plan_from_toml(text, "p.toml", Plan{.allow_code = true}).ok());
  }
  PlanDraft by_hand;
  by_hand.subjects = {{.model = "m.n:make", .backend = "x"}};
  ASSERT_TRUE(apply_toml(by_hand, "seed = 2", "p.toml").ok());
  EXPECT_TRUE(make_plan(by_hand).ok()) << "the file did not name it";
  ASSERT_TRUE(apply_toml(by_hand, "subjects = [\"mlp@x\"]", "p.toml").ok());
  EXPECT_TRUE(make_plan(by_hand).ok()) << "the file names something else";
}

TEST(MakePlan, ComparesFilesWithTheFirstButNotTwoNetworks) {
  PlanDraft draft;
  draft.subjects = {{.model = "resnet50", .backend = "x"},
                    {.model = "vit", .backend = "x"},
                    {.model = "./int8.onnx", .backend = "x"},
                    {.model = "vit", .backend = "y"},
                    {.model = "models:make", .backend = "x"}};
  std::vector<int> groups;
  const auto plan = make_plan(draft);
  ASSERT_TRUE(plan.ok());
  for (const Subject& s : plan->subjects) groups.push_back(s.group);
  EXPECT_THAT(groups, ElementsAre(0, 1, 0, 1, 0));
}

TEST(Settings, ADistributionWithoutANameIsEveryInputs) {
  PlanDraft draft;
  const std::vector<std::string> texts{"zeros", "ids=integers:0:9"};
  ASSERT_TRUE(apply_setting(*find_setting("distribution"), draft, texts).ok());
  EXPECT_THAT(draft.plan.data.distributions, ElementsAre(Pair("", "zeros"), Pair("ids", "integers:0:9")));
}

TEST(MakePlan, MultipliesOnlyWhatASubjectLeavesOpen) {
  PlanDraft draft;
  draft.subjects = {{.label = "a", .model = "m", .backend = "x"}, {.model = "m", .backend = "y", .batch_size = 2}};
  draft.batch_sizes = {1, 4};
  const auto plan = make_plan(draft);
  ASSERT_TRUE(plan.ok());
  std::vector<std::string> labels;
  std::vector<int> groups;
  for (const Subject& s : plan->subjects) {
    labels.push_back(s.label);
    groups.push_back(s.group);
  }
  EXPECT_THAT(labels, ElementsAre("a,batch=1", "m@y,batch=2", "a,batch=4"));
  EXPECT_THAT(groups, ElementsAre(0, 0, 1));
}

rc::Gen<std::string> words() {
  return rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::element('a', 'Z', '0', '/', '"', '\\', ' ', '\n')));
}

Plan any_plan() {
  Plan p;
  p.subjects.resize(static_cast<std::size_t>(*rc::gen::inRange(1, 5)));
  for (Subject& s : p.subjects) {
    s = {.label = *words(), .model = *words(), .backend = *words(), .device = *words()};
    s.dtype = *rc::gen::element(Precision::float32, Precision::float16, Precision::bfloat16);
    s.batch_size = *rc::gen::arbitrary<std::int64_t>();
    s.threads = *rc::gen::arbitrary<int>();
    s.group = *rc::gen::arbitrary<int>();
    s.options = *rc::gen::container<Pairs>(rc::gen::pair(words(), words()));
    s.dimensions = *rc::gen::container<Pairs>(rc::gen::pair(words(), words()));
  }
  p.processes = *rc::gen::inRange(1, 4);
  p.stopping.warmup = *rc::gen::arbitrary<std::int64_t>();
  if (*rc::gen::arbitrary<bool>()) p.stopping = {.iterations = {}, .duration_s = *rc::gen::element(0.1, 1e-9, 1.0 / 3)};
  p.limits = {.load_timeout_s = 1.0 / *rc::gen::inRange(1, 99),
              .memory_limit_bytes = *rc::gen::arbitrary<std::uint64_t>()};
  p.seed = *rc::gen::arbitrary<std::uint64_t>();
  p.data.seed = *rc::gen::arbitrary<std::uint64_t>();
  p.data = {.source = *words(), .distributions = {{*words(), *words()}}, .limit = *rc::gen::arbitrary<std::int64_t>()};
  p.outliers = *rc::gen::element(OutlierRule{}, OutlierRule{OutlierRule::Kind::mad, 1.0 / 3});
  p.sandbox = *rc::gen::element(Sandbox::automatic, Sandbox::strict, Sandbox::off);
  p.compare_outputs = *rc::gen::arbitrary<bool>();
  p.allow_code = *rc::gen::arbitrary<bool>();
  p.cpus = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 64));
  order_trials(p);
  return p;
}

// plan_to_json names every member, so equal texts are equal plans; the test of settings above and this one together
// would notice a member that is read into the wrong place.
TEST(PlanJson, ReadsBackTheSame) {
  EXPECT_TRUE(rc::check([] {
    const Plan plan = any_plan();
    const auto back = plan_from_json(plan_to_json(plan));
    RC_ASSERT(back.ok());
    RC_ASSERT(plan_to_json(*back) == plan_to_json(plan));
    RC_ASSERT(back->subjects[0].model == plan.subjects[0].model);
    RC_ASSERT(back->seed == plan.seed);
    RC_ASSERT(back->data.seed == plan.data.seed);
    RC_ASSERT(back->allow_code == plan.allow_code);
    RC_ASSERT(back->limits.load_timeout_s == plan.limits.load_timeout_s);
    RC_ASSERT(back->limits.memory_limit_bytes == plan.limits.memory_limit_bytes);
    RC_ASSERT(back->order.size() == plan.order.size());
  }));
}

TEST(PlanJson, RefusesWhatIsDamaged) {
  const auto message = [](std::string_view text) {
    const auto plan = plan_from_json(text);
    return plan ? std::string("no error") : plan.error().message;
  };
  EXPECT_THAT(message("{"), HasSubstr("the stored plan is not valid JSON"));
  EXPECT_EQ(message("[]"), "the stored plan should be an object but is of type array");
  EXPECT_EQ(plan_from_json(R"({"seed": 3})")->data.seed, 3U) << "stored when one seed was both";
  EXPECT_EQ(plan_from_json(R"({"seed": 3, "data_seed": 4})")->data.seed, 4U);
  EXPECT_THAT(message(R"({"seed": -1})"), HasSubstr("'seed' should be a whole number from 0 to"));
  EXPECT_THAT(message(R"({"processes": 99999999999})"), HasSubstr("'processes' should be a whole number"));
  EXPECT_THAT(message(R"({"cpus": ["a"]})"), HasSubstr("'cpus[0]' should be a whole number"));
  for (const char* cpus : {R"({"cpus": [4294967296]})", R"({"cpus": [18446744073709551615]})", R"({"cpus": [0.5]})"})
    EXPECT_THAT(message(cpus), HasSubstr("'cpus[0]' should be a whole number from -2147483648 to 2147483647"));
  EXPECT_THAT(message(R"({"subjects": [{"model": 1}]})"), HasSubstr("'subjects[0].model' should be a text but is 1"));
  EXPECT_THAT(message(R"({"subjects": [{"dtype": "int8"}]})"), HasSubstr("'subjects[0].dtype' is 'int8', a name"));
  EXPECT_THAT(message(R"({"subjects": [{"options": [["a"]]}]})"),
              HasSubstr("'subjects[0].options[0]' should be a list"));
  EXPECT_THAT(message(R"({"outliers": "none:1"})"), HasSubstr("'outliers' is 'none:1', a name"));
  EXPECT_THAT(message(R"({"order": [{"subject": 0}]})"), HasSubstr("a trial of its order is of no subject"));
  EXPECT_THAT(message(R"({"order": [{"subject": -1}]})"), HasSubstr("'order[0].subject' should be a whole number"));
  EXPECT_THAT(message(R"({"warmup": 18446744073709551615})"), HasSubstr("'warmup' should be a whole number"));
  EXPECT_THAT(message(R"({"allow_code": 1})"), HasSubstr("'allow_code' should be true or false but is 1"));
  EXPECT_THAT(message(R"({"question": {"alpha": "a"}})"), HasSubstr("'question.alpha' should be a number"));
  EXPECT_THAT(message(R"({"tuning": {"constraints": [3]}})"), HasSubstr("'tuning.constraints[0]' should be a text"));
  EXPECT_EQ(message("{}"), "no error");
  (void)plan_from_json(std::string(200'000, '['));
}

TEST(PlanJson, WritesTextThatIsNotUtf8) {
  Plan plan{.subjects = {{.label = "\xff", .model = "m", .backend = "x"}}};
  EXPECT_TRUE(plan_from_json(plan_to_json(plan)).ok());
}

}  // namespace
}  // namespace infermeter::plan_file_test
