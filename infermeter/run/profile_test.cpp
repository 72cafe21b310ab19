#include "infermeter/run/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace infermeter::run_profile_test {
namespace {

namespace fs = std::filesystem;

// One iteration with one operator.
TrialResult profiled_trial() {
  TrialResult result;
  result.samples.begin_s = {0};
  result.samples.end_s = {1};
  result.profile_files.push_back(
      {.name = "operators.json",
       .bytes =
           R"({"format":"infermeter-operators","version":1,"source":"a runtime","clock":"iteration","iterations":1,)"
           R"("operators":[{"name":"conv","kind":"Conv"}],"events":{"iteration":[0],"op":[0],"thread":[0],)"
           R"("begin_ns":[0],"duration_ns":[5]}})"});
  return result;
}

TEST(ProfileReader, SaysWhyOperatorsHaveNoPlaceInTheModel) {
  const fs::path file = fs::path(testing::TempDir()) / "no_graph.onnx";
  std::ofstream(file) << "this is not an ONNX model";
  RunRecord record;
  record.plan.subjects.emplace_back().label = "a";
  record.models.emplace_back().path = file.string();
  record.models[0].format = "onnx";
  ProfileReader read(record);
  for (int trial = 0; trial < 2; ++trial) {  // each of them
    TrialResult result = profiled_trial();
    EXPECT_TRUE(read(0, result));
    ASSERT_THAT(result.samples.diagnostics, testing::SizeIs(1));
    EXPECT_EQ(result.samples.diagnostics[0].id, DiagnosticId::nodes_not_attributed);
    EXPECT_THAT(result.samples.diagnostics[0].message,
                testing::AllOf(testing::HasSubstr("no operator has its place in the model: "),
                               testing::HasSubstr("no_graph.onnx")));
  }
  record.models[0].format = "xml";  // which nobody expects to be read
  ProfileReader other(record);
  TrialResult result = profiled_trial();
  EXPECT_TRUE(other(0, result));
  EXPECT_THAT(result.samples.diagnostics, testing::IsEmpty());
}

TEST(ProfileReader, SaysThatAProfileIsTooLong) {
  RunRecord record;
  record.plan.subjects.emplace_back().label = "a";
  record.models.emplace_back().format = "xml";
  TrialResult result = profiled_trial();
  result.profile_files = {{.name = "onnxruntime.json", .bytes = {}, .too_large = true}};
  EXPECT_FALSE(ProfileReader(record)(0, result));
  ASSERT_THAT(result.samples.diagnostics, testing::SizeIs(1));
  EXPECT_EQ(result.samples.diagnostics[0].id, DiagnosticId::profile_too_long);
  EXPECT_EQ(result.samples.diagnostics[0].message,
            "its profile, onnxruntime.json, is larger than the 512 MB that are read");
}

// A graph of 3 nodes.
TEST(ProfileReader, WarmUpIsAsLongAsTheProfileHasRoomFor) {
  const fs::path file = fs::path(testing::TempDir()) / "three_nodes.onnx";
  const std::string node =
      "\x0a\x05\x22\x03"
      "Abs";  // GraphProto.node { op_type }
  const std::string graph = node + node + node;
  std::ofstream(file) << "\x08\x08\x42\x02\x10\x11\x3a" << static_cast<char>(graph.size()) << graph;
  RunRecord record;
  record.plan.subjects.resize(1);
  record.models.resize(1);
  record.models[0].path = file.string();
  record.models[0].format = "onnx";
  EXPECT_EQ(ProfileReader(record).most_warmup(0), 200'000 / 3);
}

}  // namespace
}  // namespace infermeter::run_profile_test
