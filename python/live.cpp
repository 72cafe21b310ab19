#include "python/live.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "infermeter/models/resolve.hpp"
#include "infermeter/worker/trial_here.hpp"
#include "python/bind/errors.hpp"
#include "python/python_backend.hpp"
#include "python/python_profiler.hpp"

namespace nb = nanobind;

namespace infermeter::python {
namespace {

ModelFacts facts_of(const std::string& name) {
  ModelFacts facts;
  facts.name = facts.path = name;
  facts.format = "python";
  facts.sha256 = sha256_of_text(name);
  return facts;
}

ArrayValues inputs_of(const std::string& name, nb::handle subject) {
  ArrayValues inputs;
  const nb::object given = subject.attr("inputs");
  if (given.is_none()) return inputs;
  std::size_t index = 0;
  for (const nb::handle array : given)
    value_or_raise(add_array(inputs, array, fmt::format("input {} of '{}'", index++, name)));
  return inputs;
}

}  // namespace

LiveSubjects::LiveSubjects(nb::handle subjects) {
  if (subjects.is_none()) return;
  for (const auto [key, subject] : nb::cast<nb::dict>(subjects)) {
    const auto name = nb::cast<std::string>(key);
    subjects_.emplace(name, One{.subject = nb::borrow(subject), .inputs = inputs_of(name, subject)});
  }
}

TrialResult LiveSubjects::trial(const One& one, const TrialJob& job, const TrialHooks& hooks,
                                std::atomic<int>& interrupt) {
  const nb::gil_scoped_acquire gil;
  set_opener(one.subject.attr("opener"));
  TrialJob own = job;
  own.model_path = nb::cast<std::string>(one.subject.attr("place"));
  TrialResult result = run_trial_here(backend(), own, hooks, profile_hooks(in_this_process));
  const nb::object raised = take_exception();
  set_opener({});  // it may hold on to what the caller thinks is gone
  if (raised.is_valid() && PyErr_GivenExceptionMatches(raised.ptr(), PyExc_KeyboardInterrupt) != 0) {
    interruption_ = raised;
    interrupt = 1;
    result.samples.end = TrialEnd::interrupted;
    result.samples.message = "interrupted";
  } else if (raised.is_valid()) {  // also by a metric of the user's own, behind a trial that went well
    nb::setattr(one.subject, "error", raised);
  }
  return result;
}

void LiveSubjects::attach(RunContext& context, std::atomic<int>& interrupt) {
  if (subjects_.empty()) return;
  for (const auto& [name, one] : subjects_) {
    context.models[name] = facts_of(name);
    const nb::object accuracy = one.subject.attr("accuracy");
    if (!accuracy.is_none()) context.accuracy[name] = nb::cast<AccuracyTally>(accuracy);
  }
  context.trial = [this, &interrupt](const Launcher& launcher, const TrialJob& job, const TrialHooks& hooks) {
    const auto found = subjects_.find(job.subject.model);
    if (found == subjects_.end()) return run_trial(launcher, job, hooks);
    return trial(found->second, job, hooks, interrupt);
  };
  context.inputs = [this](const Subject& subject) -> std::optional<DataSet> {
    const auto found = subjects_.find(subject.model);
    if (found == subjects_.end() || found->second.inputs.values.empty()) return std::nullopt;
    DataSet data;
    data.items.push_back({.name = "given", .inputs = found->second.inputs.values});
    return data;
  };
}

}  // namespace infermeter::python
