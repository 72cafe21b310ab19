// Records and places for the tests of this folder.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "infermeter/verdict/run_record.hpp"

// A record here names only the fields that a test is about.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace infermeter::test {

// A folder of its own for each test, gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "infermeter_store_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code code;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, code);
    std::filesystem::remove_all(path_, code);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Values that a careless file form would change.
inline Samples trial_at(int position, TrialEnd end = TrialEnd::ok) {
  Samples trial{.subject = position % 2, .process = position / 2, .position = position};
  trial.started_at = 1795261320.1 + position;
  trial.end = end;
  trial.phase = Phase::done;
  trial.stderr_tail = std::string("a\0b\n\"'; DROP TABLE runs; --", 26);
  trial.load_s = 0.1 + 0.2;
  trial.begin_s = {0.1, 1.0 / 3, 5e-324};
  trial.end_s = {0.1 + 1e-9, std::nextafter(1.0 / 3, 1), 1e300};
  trial.warmup_begin_s = {-0.0};
  trial.warmup_end_s = {1e-9};
  trial.executed = {{"dtype", "float32"}, {"device", "cpu"}};
  trial.input_digest = ~std::uint64_t{0};
  trial.diagnostics = {{DiagnosticId::foreign_load, "other programs used 41 % of a core", ""}};
  return trial;
}

inline RunRecord record_named(const std::string& id, double created_at = 1795261320.1) {
  RunRecord record{.id = id, .created_at = created_at};
  record.plan.subjects = {{.label = "a", .model = "mlp", .backend = "fake"},
                          {.label = "'; DROP TABLE runs; --", .model = "mlp", .backend = "fake"}};
  record.plan.subjects[1].options = {{"key", "value"}};
  record.plan.seed = 7;
  record.plan.order = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
  record.environment.processor = "AMD EPYC";
  record.environment.flags = {"avx2"};
  record.environment.governor = "performance";
  record.models = {
      {.name = "mlp", .path = "/m/mlp.onnx", .format = "onnx", .sha256 = "ab", .size_bytes = ~std::uint64_t{0}},
      {.name = "mlp", .path = "/m/mlp.onnx", .parameters = 0, .weight_files = {"/m/w"}, .from_zoo = true}};
  record.diagnostics = {{DiagnosticId::few_cores, "the machine has 2 cores", ""}};
  return record;
}

inline SubjectOutputs outputs_at(int subject) {
  OutputDifference output{
      .name = "y", .dtype = "float32", .shape = {2, -1}, .comparable = false, .reason = "shapes differ"};
  output.max_absolute = std::nan("");
  output.reference_at_max = HUGE_VAL;
  output.candidate_at_max = -HUGE_VAL;
  output.cosine = 1.0 / 3;
  output.tolerance = {.relative = 1e-4, .absolute = 1e-7};
  return {.subject = subject,
          .reference = 0,
          .comparison = {.agree = false,
                         .items = 3,
                         .outputs = {output},
                         .diagnostics = {{DiagnosticId::outputs_differ, "they differ", "b"}}}};
}

}  // namespace infermeter::test
