#include "infermeter/worker/wire/wire.hpp"

#include <gtest/gtest.h>

namespace infermeter::wire_test {
namespace {

TEST(Wire, AJobComesBackAsItWent) {
  WorkerJob job;
  job.plugin = "/a \"b\"\n.so";
  job.probe = true;
  job.sandbox = Sandbox::strict;
  job.readable = {"/x", "/y"};
  job.cpus = {0, 3};
  job.trial.subject = {.label = "l",
                       .model = "m",
                       .backend = "b",
                       .device = "cuda",
                       .dtype = Precision::bfloat16,
                       .batch_size = 8,
                       .threads = 5,
                       .dimensions = {{"height", "512"}},
                       .options = {{"k", "v"}},
                       .backend_library = "/lib.so",
                       .group = 0};
  job.trial.model_path = "/m.onnx";
  job.trial.stopping = {.warmup = 7, .iterations = {}, .duration_s = 0.1};
  job.trial.time_it = false;
  job.trial.keep_outputs = true;
  job.trial.python_folders = {"/p"};
  job.trial.launcher = 42;
  const std::string text = job_to_json(job);
  const auto back = job_from_json(text);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(job_to_json(back.value()), text);
  EXPECT_EQ(back->plugin, job.plugin);
  EXPECT_EQ(back->trial.subject.dtype, Precision::bfloat16);
  EXPECT_EQ(back->trial.stopping.duration_s, 0.1);
  EXPECT_FALSE(back->trial.stopping.iterations.has_value());
  EXPECT_EQ(back->sandbox, Sandbox::strict);
  EXPECT_EQ(back->trial.launcher, 42);
}

TEST(Wire, PortsComeBackAsTheyWent) {
  const ModelPorts ports{.inputs = {{.name = "x",
                                     .kind = Value::Kind::sequence,
                                     .is_optional = true,
                                     .dtype = DType::float16,
                                     .rank_known = false,
                                     .shape = {},
                                     .dimension_names = {}}},
                         .outputs = {{.name = "</script>",
                                      .kind = Value::Kind::tensor,
                                      .is_optional = false,
                                      .dtype = DType::int4,
                                      .rank_known = true,
                                      .shape = {-1, 3},
                                      .dimension_names = {"n", ""}},
                                     {.name = "known only by a run",
                                      .kind = Value::Kind::tensor,
                                      .is_optional = false,
                                      .dtype = DType::undefined,
                                      .rank_known = false,
                                      .shape = {},
                                      .dimension_names = {}}}};
  const auto back = ports_from_json(ports_to_json(ports));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->inputs[0].kind, Value::Kind::sequence);
  EXPECT_EQ(back->inputs[0].dtype, DType::float16);
  EXPECT_FALSE(back->inputs[0].rank_known);
  EXPECT_EQ(back->outputs[0].shape, (Shape{-1, 3}));
  EXPECT_EQ(back->outputs[0].dimension_names[0], "n");
  EXPECT_EQ(back->outputs[1].dtype, DType::undefined);
  EXPECT_EQ(ports_to_json(back.value()), ports_to_json(ports));
}

TEST(Wire, NonsenseIsRefused) {
  EXPECT_FALSE(job_from_json("").ok());
  EXPECT_FALSE(job_from_json("{}").ok()) << "no plug-in";
  EXPECT_FALSE(ports_from_json(R"({"inputs":[{"name":3}],"outputs":[]})").ok());
  EXPECT_FALSE(ports_from_json(R"({"inputs":[{"name":"x","dtype":"float99"}],"outputs":[]})").ok());
  EXPECT_FALSE(backend_info_from_json(R"({"options":[{}]})").ok());
  EXPECT_FALSE(ports_from_json(std::string(100'000, '[')).ok()) << "deep";
}

}  // namespace
}  // namespace infermeter::wire_test
