// For tests: a trial of the fake back end in a real worker.
#pragma once

#include <cstddef>
#include <string>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/worker/launcher.hpp"

namespace infermeter::test {

inline Launcher fake_launcher() {
  return {.worker = test::worker_program, .plugin_folders = {test::fake_folder}, .python_folders = {}};
}

inline TrialJob fake_job(Pairs options) {
  TrialJob job;
  job.subject.label = "the fake";
  job.subject.model = job.model_path = "nothing.fake";
  job.subject.backend = "fake";
  job.subject.threads = 1;
  job.subject.options = std::move(options);
  job.stopping = {.warmup = 2, .iterations = 20, .duration_s = {}};
  job.limits = {.load_timeout_s = 20, .run_timeout_s = 20, .memory_limit_bytes = std::uint64_t{1} << 30};
  return job;
}

// Zeros that fit, `items` of them, each with its own first byte.
inline Result<DataSet> zeros_for(std::span<const Port> inputs, std::size_t items = 1) {
  DataSet data;
  for (std::size_t item = 0; item < items; ++item) {
    DataItem one{.name = std::to_string(item), .inputs = {}, .expected = {}, .labels = {}};
    for (const Port& port : inputs) {
      Shape shape = port.shape;
      for (auto& dimension : shape) dimension = dimension < 0 ? 1 : dimension;
      std::byte* writable = nullptr;
      const std::size_t bytes = bytes_of(port.dtype, element_count(shape).value_or(0));
      Bytes storage = Bytes::allocate(bytes, &writable);
      if (bytes > 0) *writable = static_cast<std::byte>(item);
      one.inputs.push_back({.kind = Value::Kind::tensor, .tensor = {port.dtype, shape, storage, {}}, .elements = {}});
    }
    data.items.push_back(std::move(one));
  }
  return data;
}

inline TrialHooks hooks_with(std::size_t items = 1) {
  TrialHooks hooks;
  hooks.data = [items](std::span<const Port> inputs) { return zeros_for(inputs, items); };
  return hooks;
}

inline Samples run_fake(Pairs options) {
  return run_trial(fake_launcher(), fake_job(std::move(options)), hooks_with()).samples;
}

inline bool has(const Samples& samples, DiagnosticId id) {
  for (const Diagnostic& diagnostic : samples.diagnostics)
    if (diagnostic.id == id) return true;
  return false;
}

}  // namespace infermeter::test
