#include "infermeter/run/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <future>
#include <map>
#include <set>
#include <utility>

#include "infermeter/data/batch_axis.hpp"
#include "infermeter/data/make_data.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/models/onnx/infer_types.hpp"
#include "infermeter/plan/load/load_shape.hpp"
#include "infermeter/plan/server_url.hpp"
#include "infermeter/run/inputs.hpp"
#include "infermeter/run/workload.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/trial/load/trace.hpp"
#include "infermeter/trial/machine/peaks.hpp"
#include "infermeter/trial/trial_steps.hpp"

namespace infermeter {
namespace {

constexpr std::string_view our_keys[] = {"batch", "dtype", "device", "threads", "library"};

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string of_subject(const Subject& subject, const std::string& what) {
  return fmt::format("subject '{}': {}", subject.label, what);
}

// --- what a back end says of itself ---------------------------------------------------------------------------------

using Probed = std::map<std::pair<std::string, std::string>, BackendInfo>;

void check_options(const Subject& subject, const BackendInfo& info, Problems& problems) {
  std::vector<std::string> keys;
  for (const BackendOption& option : info.options) keys.push_back(option.key);
  for (const auto& [key, value] : subject.options) {
    if (is_among(keys, key)) continue;
    if (std::ranges::find(our_keys, key) != std::end(our_keys)) {
      problems.add(usage_error(of_subject(
          subject, fmt::format("{0} is the same for all back ends, and no option of {1}: write ,{0}={2} behind "
                               "the subject, or use the flag for it",
                               key, subject.backend, value))));
      continue;
    }
    std::vector<std::string> candidates = keys;
    candidates.insert(candidates.end(), std::begin(our_keys), std::end(our_keys));
    problems.add(usage_error(
        of_subject(subject, fmt::format("back end {} has no option '{}'{}; `infermeter backends {}` lists them",
                                        subject.backend, key, did_you_mean(key, candidates), subject.backend))));
  }
}

void check_backend(const Subject& subject, const BackendInfo& info, Problems& problems) {
  if (!info.error.empty()) {
    problems.add(usage_error(fmt::format("back end {} cannot be used: {}", subject.backend, info.error)));
    return;
  }
  if (subject.device != "auto" && !is_among(info.devices, subject.device)) {
    const std::string near = is_kind_of_device(subject.device) ? "" : did_you_mean(subject.device, info.devices);
    problems.add(usage_error(
        of_subject(subject, fmt::format("back end {} has no device '{}'{}; here it has {} (--device)", subject.backend,
                                        subject.device, near, fmt::join(info.devices, ", ")))));
  }
  const std::string dtype(to_string(subject.dtype));
  if (!is_among(info.dtypes, dtype)) {
    problems.add(usage_error(of_subject(
        subject, fmt::format("back end {} cannot execute {} here, but {} (--dtype); a model whose file is {} "
                             "itself is executed unchanged, without --dtype",
                             subject.backend, dtype, fmt::join(info.dtypes, ", "), dtype))));
  }
  check_options(subject, info, problems);
}

// --- dimensions -----------------------------------------------------------------------------------------------------

std::string axis_name(const Port& port, std::size_t axis) {
  return axis < port.dimension_names.size() ? port.dimension_names[axis] : std::string();
}

// Refuses sizes for dimensions that the model does not have, as back ends do.
void check_dimension_names(const Subject& subject, const std::vector<Port>& inputs, Problems& problems) {
  std::vector<std::string> known, listed;
  for (const Port& port : inputs) {
    for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
      if (port.shape[axis] >= 0) continue;
      const std::string name = axis_name(port, axis), place = place_of(port, axis);
      known.push_back(place);
      if (!name.empty()) known.push_back(name);
      if (const std::string& shown = name.empty() ? place : name; !is_among(listed, shown)) listed.push_back(shown);
    }
  }
  for (const auto& [key, size] : subject.dimensions) {
    if (is_among(known, key)) continue;
    problems.add(usage_error(of_subject(
        subject,
        fmt::format("the model has no dynamic dimension '{}'{}; it has {} (--dim)", key, did_you_mean(key, known),
                    listed.empty() ? "none" : fmt::format("{}", fmt::join(listed, ", "))))));
  }
}

// --- processors -----------------------------------------------------------------------------------------------------

void check_processors(const Plan& plan, Problems& problems) {
  const std::vector<int> missing = refused_processors(plan.cpus);
  if (missing.empty()) return;
  problems.add(usage_error(fmt::format("--cpus: this machine, or the container's CPU set, does not have processor{} {}",
                                       missing.size() == 1 ? "" : "s", fmt::join(missing, ", "))));
}

// --- all subjects ---------------------------------------------------------------------------------------------------

class Checker {
 public:
  Checker(const Plan& plan, const RunContext& context, const CheckedUse& use)
      : plan_(plan), context_(context), use_(use) {}

  RunCheck operator()() {
    check_.models = context_.models;
    check_.ports.resize(plan_.subjects.size());
    if (!check_.problems.take(check_plan(plan_))) return std::move(check_);
    check_processors(plan_, check_.problems);
    if (std::ranges::any_of(plan_.subjects, [&](const Subject& subject) { return !is_own(subject); })) {
      // A large file's digest takes as long as a worker's start.
      auto models = std::async(std::launch::async, [this] { return resolved_models(); });
      probe();
      resolved_ = models.get();
      if (look_at_interrupts(context_.interrupt) != 0) {
        check_.problems.add(worker_error("interrupted before anything was measured"));
        return std::move(check_);
      }
      has_labels_ = check_.problems.take(check_labels_source(data_options(plan_.subjects.front())));
      has_source_ = check_.problems.take(check_source(data_options(plan_.subjects.front())));
    }
    check_.refusals.resize(plan_.subjects.size());
    for (std::size_t i = 0; i < plan_.subjects.size(); ++i) {
      if (is_own(plan_.subjects[i])) {
        if (!plan_.subjects[i].load.empty())
          check_.problems.add(
              usage_error(fmt::format("'{}' is measured in this program, one call after the other: give "
                                      "a model and a back end for a load",
                                      plan_.subjects[i].label)));
        continue;
      }
      if (use_.by_subject) {
        check_alone(i);
      } else {
        check_subject(i);
      }
    }
    return std::move(check_);
  }

 private:
  // Of the embedding program, which has it in memory and measures it.
  [[nodiscard]] bool is_own(const Subject& subject) const {
    return context_.trial && context_.models.contains(subject.model);
  }

  [[nodiscard]] std::map<std::string, Result<ModelFacts>> resolved_models() const {
    std::map<std::string, Result<ModelFacts>> found;
    for (const Subject& subject : plan_.subjects) {
      if (is_own(subject) || is_on_server(subject)) continue;
      if (context_.models.contains(subject.model) || found.contains(subject.model)) continue;
      found.emplace(subject.model, resolve_model(subject.model, context_.cache,
                                                 {.allow_code = plan_.allow_code, .interrupt = context_.interrupt}));
    }
    return found;
  }

  void probe() {
    const std::vector<std::string> names = backend_names(context_.launcher);
    std::map<std::pair<std::string, std::string>, std::future<BackendInfo>> answers;
    for (const Subject& subject : plan_.subjects) {
      if (is_own(subject)) continue;
      if (!is_among(names, subject.backend)) {
        check_.problems.add(unknown_backend(subject.backend, names));
        continue;
      }
      auto& answer = answers[{subject.backend, subject.backend_library}];
      if (answer.valid()) continue;
      answer = std::async(std::launch::async, [this, &subject] {
        return probe_backend(context_.launcher, subject.backend, subject.backend_library,
                             {.sandbox = plan_.sandbox, .interrupt = context_.interrupt, .cache = context_.cache});
      });
    }
    for (auto& [key, answer] : answers) probed_[key] = answer.get();
  }

  // Its words are right by now: what a file of arrivals holds is not known.
  void check_load(const Subject& subject) {
    const auto shape = load_shape_from_pairs(subject.load);
    if (!shape.ok()) return;
    const auto trace = read_trace_of(shape->arrivals);
    if (!trace.ok()) check_.problems.add(usage_error(fmt::format("arrivals: {}", trace.error().message)));
  }

  // The first thing that is wrong with it.
  void check_alone(std::size_t index) {
    Problems of_all = std::exchange(check_.problems, {});
    checked_.clear();
    check_subject(index);
    if (!check_.problems.none()) check_.refusals[index] = check_.problems.found().front().message;
    check_.problems = std::move(of_all);
  }

  void check_subject(std::size_t index) {
    const Subject& subject = plan_.subjects[index];
    if (use_.is_timed) check_load(subject);
    const auto info = probed_.find({subject.backend, subject.backend_library});
    if (info != probed_.end()) check_backend(subject, info->second, check_.problems);
    if (is_on_server(subject)) return check_on_server(subject, info == probed_.end() ? nullptr : &info->second);
    const ModelFacts* const model = model_of(subject, info == probed_.end() ? nullptr : &info->second);
    if (model == nullptr || info == probed_.end() || !info->second.error.empty()) return;
    if (!model->from_zoo || model->format == kFolderFormat) {  // others are converted
      const auto reads = check_format({.path = model->path, .zoo_name = model->from_zoo ? model->name : ""},
                                      subject.backend, info->second.model_formats);
      if (!check_.problems.take(reads)) return;
    }
    if (model->format == "onnx" && is_among(info->second.model_formats, "onnx")) check_inputs(index, *model);
  }

  // What the server has, it says when it is asked; a back end without the option was refused.
  void check_on_server(const Subject& subject, const BackendInfo* info) {
    if (info == nullptr || !info->error.empty()) return;
    add(subject,
        check_format({.path = subject.model, .zoo_name = {}, .on_server = true}, subject.backend, info->model_formats));
  }

  // Null: it cannot be found, which is said once, or is a workload of the back end.
  const ModelFacts* model_of(const Subject& subject, const BackendInfo* info) {
    if (const auto known = check_.models.find(subject.model); known != check_.models.end()) return &known->second;
    const Result<ModelFacts>& facts = resolved_.at(subject.model);
    if (facts.ok()) return &check_.models.emplace(subject.model, *facts).first->second;
    const bool may_be_theirs = may_be_workload(subject.model) && info != nullptr;
    // A name that means something else to another back end: it is not kept.
    const auto workload = may_be_theirs ? resolve_workload(subject, *info, facts.error()) : facts;
    check_.problems.take(workload);
    return nullptr;
  }

  void check_inputs(std::size_t index, const ModelFacts& model) {
    const Subject& subject = plan_.subjects[index];
    auto ports = read_onnx_ports(model.path);
    if (!check_.problems.take(ports)) return;
    check_dimension_names(subject, ports->inputs, check_.problems);
    if (const auto fixed = fix_dimensions(ports->inputs, subject.dimensions, subject.batch_axes); !fixed.ok())
      return add(subject, fixed);
    // Of subjects that take the same inputs one speaks for all.
    if (checked_.insert(fmt::format("{} {}", model.path, subject.batch_size) + signature_of(ports->inputs)).second) {
      if (use_.is_timed) add(subject, items_per_inference(ports->inputs, subject.batch_size));
      if (has_source_) add(subject, check_data(data_options(subject), ports->inputs));
    }
    check_.ports[index] = std::move(*ports);
  }

  // Subjects of one model have its problems together.
  template <class Value>
  void add(const Subject& subject, const Result<Value>& result) {
    if (result.ok()) return;
    Error error = result.error();
    error.message = fmt::format("{}: {}", subject.model, error.message);
    check_.problems.add(std::move(error));
  }

  [[nodiscard]] DataOptions data_options(const Subject& subject) const {
    DataOptions options = data_options_of(plan_, subject, context_.launcher, context_.interrupt);
    if (!has_labels_) options.labels.clear();  // which is said already
    options.perturb = use_.perturb;
    options.noise = use_.noise;
    return options;
  }

  const Plan& plan_;
  const RunContext& context_;
  const CheckedUse& use_;
  Probed probed_;
  bool has_source_ = false, has_labels_ = true;
  std::map<std::string, Result<ModelFacts>> resolved_{};
  std::set<std::string> checked_;  // inputs
  RunCheck check_;
};

constexpr std::array<std::string_view, 2> left_out_of_wheels = {"imaging", "libtorch"};

}  // namespace

Error unknown_backend(const std::string& name, const std::vector<std::string>& names) {
  if (names.empty()) {
    return usage_error(
        fmt::format("unknown back end '{}': no back end was found at all; --backend-path names the folder "
                    "of infermeter_backend_*.so",
                    name));
  }
  if (std::ranges::find(left_out_of_wheels, name) != left_out_of_wheels.end()) {
    return usage_error(
        fmt::format("back end {} is not in this installation, as it is in no wheel: an installation from source has it "
                    "(docs/install.md); found: {}",
                    name, fmt::join(names, ", ")));
  }
  return usage_error(
      fmt::format("unknown back end '{}'{}; found: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

RunCheck check_run(const Plan& plan, const RunContext& context, const CheckedUse& use) {
  return Checker(plan, context, use)();
}

}  // namespace infermeter
