#include "cli/flags/layers_flags.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/output/output_file.hpp"
#include "cli/output/report_output.hpp"
#include "infermeter/diagnostics/problems.hpp"
#include "infermeter/report/layers/report.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/run/trial_failure.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/validate/layers.hpp"
#include "infermeter/worker/profile/python_tool.hpp"

namespace infermeter {
namespace {

constexpr const char* kLayers = "Layers";

Result<Done> check_trial(const Samples& trial, const Subject& subject) {
  if (trial.end == TrialEnd::ok) return Done{};
  Error error = trial_failure(trial, subject.label);
  if (trial.end == TrialEnd::out_of_memory) {
    error.message += " (--layers keeps every intermediate tensor: a smaller batch or input takes less)";
  }
  return error;
}

Result<Done> write_picture(const Surroundings& world, const Launcher& launcher, const std::string& file,
                           const std::string& report, bool overwrite) {
  const std::string ending = std::filesystem::path(file).extension();
  INFERMETER_TRY(const std::string picture, run_python_tool(launcher, {.module = "infermeter.layers_plot",
                                                                       .input = report,
                                                                       .input_name = "layers.json",
                                                                       .output_name = "layers" + ending,
                                                                       .arguments = {},
                                                                       .interrupt = world.interrupt}));
  return write_file(file, picture, overwrite);
}

}  // namespace

void LayersFlags::declare(CLI::App& app) {
  app.add_flag("--layers", wanted,
               "Compare every intermediate tensor of the two ONNX files on the first data item instead, and show the "
               "first tensor where the error jumps.")
      ->group(kLayers);
  app.add_option("--layers-plot", plot, "With --layers: draw the error along the graph. Needs matplotlib.")
      ->type_name("FILE.png|.svg")
      ->group(kLayers);
}

void LayersFlags::check(const Launcher& launcher, bool overwrite, Problems& problems) const {
  if (plot.empty()) return;
  if (!wanted) problems.add(usage_error("--layers-plot draws what --layers finds: give --layers as well"));
  const std::string ending = std::filesystem::path(plot).extension();
  if (ending != ".png" && ending != ".svg") {
    problems.add(usage_error(fmt::format("--layers-plot: '{}' is not a picture's name; it can end with .png or .svg",
                                         printable(plot, 200))));
  }
  problems.take(check_new_file(plot, overwrite));
  if (wanted) problems.take(check_figures(launcher, "--layers-plot"));
}

Result<int> show_layers(Surroundings& world, const LayersFlags& flags, const Plan& plan,
                        const std::array<ModelFacts, 2>& models, const Launcher& launcher, const LayersOutput& output) {
  INFERMETER_TRY(const LayersRecord record, trace_layers(plan, models, launcher, world.interrupt));
  INFERMETER_TRY_DONE(check_trial(record.reference_trial, record.reference));
  INFERMETER_TRY_DONE(check_trial(record.candidate_trial, record.candidate));
  const std::string report = render_layers_json(record);
  world.out << (output.json ? report : render_layers(record, world.width, use_color(world)));
  Problems unwritten;
  if (!flags.plot.empty()) {
    unwritten.take(write_picture(world, launcher, flags.plot, report, output.overwrite));
  }
  if (output.html.wanted()) {
    unwritten.take(output.html.write(world, layers_part(record), output.overwrite, output.quiet));
  }
  INFERMETER_TRY_DONE(unwritten.result("not written"));
  return record.growth.jump ? 1 : 0;
}

}  // namespace infermeter
