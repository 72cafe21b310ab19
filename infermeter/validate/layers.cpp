#include "infermeter/validate/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infermeter/data/make_data.hpp"
#include "infermeter/machine/machine.hpp"
#include "infermeter/models/mapped_file.hpp"
#include "infermeter/models/onnx/expose_outputs.hpp"
#include "infermeter/models/onnx/read_graph.hpp"
#include "infermeter/run/inputs.hpp"
#include "infermeter/run/trial_job.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/verdict/sandbox_in_force.hpp"
#include "infermeter/worker/wall/private_folder.hpp"

namespace infermeter {
namespace {

// One subject's side of it.
struct Side {
  TrialResult result;
  std::string item;
  std::vector<Shape> input_shapes;
  std::vector<ExposedTensor> tensors;
};

// Both sides' tensors are held at once, one of them twice while it arrives, beside a worker that holds its own.
Limits limits_of(const Plan& plan) {
  Limits limits = plan.limits;
  if (limits.memory_limit_bytes == 0) {
    limits.memory_limit_bytes = kilobytes_field(read_proc_file("/proc/meminfo"), "MemAvailable:").value_or(0) / 4;
  }
  return limits;
}

TrialJob make_job(const Plan& plan, const Subject& subject, const ModelFacts& copy) {
  TrialJob job = outputs_job(plan, subject, copy);
  job.limits = limits_of(plan);
  return job;
}

Result<DataSet> one_item(const Plan& plan, const Subject& subject, std::span<const Port> inputs,
                         const Launcher& launcher, const std::atomic<int>* interrupt) {
  DataOptions options = data_options_of(plan, subject, launcher, interrupt);
  options.limit = 1;
  options.labels.clear();
  INFERMETER_TRY(DataSet data, make_data(options, inputs));
  data.items.resize(1);
  return data;
}

Result<Side> run_side(const Plan& plan, const Subject& subject, const ModelFacts& model, const Launcher& launcher,
                      const std::atomic<int>* interrupt) {
  INFERMETER_TRY(const PrivateFolder folder, PrivateFolder::create());
  INFERMETER_TRY(ExposedModel exposed, expose_outputs(model, folder.path()));
  Side side;
  side.tensors = std::move(exposed.tensors);
  const TrialHooks hooks{.data = [&](std::span<const Port> inputs) -> Result<DataSet> {
                           INFERMETER_TRY(DataSet data, one_item(plan, subject, inputs, launcher, interrupt));
                           side.item = data.items.front().name;
                           for (const Value& value : data.items.front().inputs) {
                             side.input_shapes.push_back(value.tensor.shape);
                           }
                           return data;
                         },
                         .on_progress = {},
                         .interrupt = interrupt};
  side.result = run_trial(launcher, make_job(plan, subject, exposed.file), hooks);
  if (side.result.launcher_error) return *side.result.launcher_error;
  side.result.output_block = {};  // the values have a copy of their own
  return side;
}

bool ended_well(const Side& side) { return side.result.samples.end == TrialEnd::ok; }

Result<LayerTrace> trace_of(Side& side) {
  if (side.result.output_values.empty()) return internal_error("the worker ended well and gave no outputs");
  ItemValues values = std::move(side.result.output_values.front());
  if (values.size() != side.tensors.size()) {
    return model_error(fmt::format("{} tensors were made outputs of the model and the back end gave {}",
                                   side.tensors.size(), values.size()));
  }
  LayerTrace trace{.precision = std::string(side.result.samples.executed_value("dtype")), .tensors = {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    ExposedTensor& tensor = side.tensors[i];
    trace.tensors.push_back({.name = std::move(tensor.name),
                             .node = std::move(tensor.node),
                             .op = std::move(tensor.op),
                             .position = tensor.position,
                             .value = std::move(values[i])});
  }
  std::ranges::stable_sort(trace.tensors, {}, &LayerTensor::position);
  return trace;
}

// As the file has it: what runs is a copy with more outputs.
ModelGraph graph_in(const ModelFacts& model) {
  const auto file = MappedFile::open(model.path);
  if (!file.ok()) return {};
  auto graph = read_graph_bytes(file->bytes());
  return graph.ok() && file->check_whole().ok() ? std::move(graph).value() : ModelGraph{};
}

// Inputs of one number and of equal shapes get the same numbers, rounded to their types.
Result<Done> check_inputs(const LayersRecord& record, const Side& reference, const Side& candidate) {
  if (reference.input_shapes == candidate.input_shapes) return Done{};
  return usage_error(
      fmt::format("{} and {} do not take the same inputs, so that nothing along their graphs can be "
                  "compared; --batch-sizes and --dim say what dynamic sizes become",
                  in_quotes(record.reference.label), in_quotes(record.candidate.label)));
}

}  // namespace

Result<LayersRecord> trace_layers(const Plan& plan, const std::array<ModelFacts, 2>& models, const Launcher& launcher,
                                  const std::atomic<int>* interrupt) {
  LayersRecord record{.reference = plan.subjects.at(0),
                      .candidate = plan.subjects.at(1),
                      .reference_trial = {},
                      .candidate_trial = {},
                      .item = {},
                      .sandbox = std::string(to_string(plan.sandbox)),
                      .graph = graph_in(models[0]),
                      .growth = {},
                      .created_at = wall_clock_s(),
                      .hostname = host_name()};
  INFERMETER_TRY(Side reference, run_side(plan, record.reference, models[0], launcher, interrupt));
  record.reference_trial = reference.result.samples;
  record.item = reference.item;
  record.sandbox = sandbox_in_force(plan.sandbox, record.reference_trial.diagnostics);
  if (!ended_well(reference)) return record;
  INFERMETER_TRY(Side candidate, run_side(plan, record.candidate, models[1], launcher, interrupt));
  record.candidate_trial = candidate.result.samples;
  if (!ended_well(candidate)) return record;
  INFERMETER_TRY_DONE(check_inputs(record, reference, candidate));
  INFERMETER_TRY(const LayerTrace expected, trace_of(reference));
  INFERMETER_TRY(const LayerTrace got, trace_of(candidate));
  record.growth = layer_growth(expected, got);
  return record;
}

}  // namespace infermeter
