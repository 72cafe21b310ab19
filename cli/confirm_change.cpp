#include "cli/confirm_change.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "infermeter/plan/subject.hpp"
#include "infermeter/text/shell_quote.hpp"

namespace infermeter {
namespace {

// What a subject of a run was made of.
struct Build {
  Plan plan;
  Subject subject;
  ModelFacts model;
  std::string library, version;  // of the runtime, as executed
};

Result<Build> build_of(Store& store, const Figure& figure) {
  INFERMETER_TRY(const RunRecord record, store.load_run(figure.run));
  const auto index = static_cast<std::size_t>(figure.subject);
  if (index >= record.plan.subjects.size() || index >= record.models.size()) {
    return io_error(fmt::format("run {} has no subject {}: its figures are damaged", figure.run, figure.subject));
  }
  Build build{.plan = record.plan,
              .subject = record.plan.subjects[index],
              .model = record.models[index],
              .library = {},
              .version = figure.runtime_version};
  const auto trial = std::ranges::find_if(record.trials, [&](const Samples& samples) {
    return samples.subject == figure.subject && samples.end == TrialEnd::ok;
  });
  if (trial != record.trials.end()) build.library = trial->executed_value("library");
  return build;
}

bool is_file(const std::string& path) {
  std::error_code error;
  return !path.empty() && std::filesystem::is_regular_file(path, error);
}

// Two files, and both are there. What has the same path now has been written over.
bool both_there(const std::string& before, const std::string& after) {
  return before != after && is_file(before) && is_file(after);
}

// The model as asked for where that is a name; files by their whole path, as the command may be used anywhere.
Subject subject_with(const Build& build, bool library_by_flag) {
  Subject subject = build.subject;
  if (!build.model.from_zoo) subject.model = build.model.path;
  if (library_by_flag) subject.backend_library.clear();
  return subject;
}

// Not every path can be written as a subject: one with ",x=" in it, say.
bool can_be_written(const Subject& subject) {
  const auto read = subject_from_string(short_form(subject), {});
  return read.ok() && short_form(*read) == short_form(subject) && read->model == subject.model;
}

std::vector<std::string> further_flags(const Build& build, const std::string& metric) {
  std::vector<std::string> flags;
  if (metric != "latency_p50") flags.insert(flags.end(), {"--metric", metric});
  if (!build.plan.cpus.empty())
    flags.insert(flags.end(), {"--cpus", fmt::format("{}", fmt::join(build.plan.cpus, ","))});
  if (build.plan.allow_code) flags.emplace_back("--allow-code");
  if (build.plan.data.source != DataRequest{}.source) flags.insert(flags.end(), {"--data", build.plan.data.source});
  return flags;
}

Confirmation not_possible(std::string why) { return {.command = {}, .why_not = std::move(why)}; }

Confirmation confirmation(const Build& before, const Build& after, const std::string& metric) {
  const bool other_model = before.model.sha256 != after.model.sha256;
  const bool other_runtime = before.version != after.version || before.library != after.library;
  if (!other_model && !other_runtime) {
    return not_possible(
        "model and runtime are the same before and after it, so that there are no two builds to compare: look at what "
        "else has changed on this machine");
  }
  if (other_model && !both_there(before.model.path, after.model.path)) {
    return not_possible(
        fmt::format("the model of before is no longer at {}: put it beside the newer one, and compare "
                    "the two files with `infermeter compare`",
                    before.model.path));
  }
  if (other_runtime && !both_there(before.library, after.library)) {
    return not_possible(fmt::format(
        "the runtime of before, version {}, is no longer at {}: install it beside the newer one, and compare "
        "the two with `infermeter compare SUBJECT --a-backend-library OLDER --b-backend-library NEWER`",
        before.version.empty() ? "unknown" : before.version,
        before.library.empty() ? "a known place" : before.library));
  }
  std::vector<Subject> subjects{subject_with(before, other_runtime), subject_with(after, other_runtime)};
  if (!other_model) subjects.erase(subjects.begin());
  std::vector<std::string> command{"infermeter", "compare"};
  for (const Subject& subject : subjects) {
    if (!can_be_written(subject)) return not_possible("a path of it cannot be written on a command line");
    command.push_back(short_form(subject));
  }
  if (other_runtime) {
    command.insert(command.end(), {"--a-backend-library", before.library, "--b-backend-library", after.library});
  }
  const auto further = further_flags(after, metric);
  command.insert(command.end(), further.begin(), further.end());
  return {.command = shell_quoted(command), .why_not = {}};
}

}  // namespace

Result<Confirmation> confirmation_of(Store& store, const History& history) {
  const HistoryChange* alarm = history.alarm();
  INFERMETER_CHECK(alarm != nullptr && alarm->point.index > 0);
  INFERMETER_TRY(const Build before, build_of(store, history.figures.at(alarm->point.index - 1)));
  INFERMETER_TRY(const Build after, build_of(store, history.figures.back()));
  return confirmation(before, after, history.metric);
}

}  // namespace infermeter
