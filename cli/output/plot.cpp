#include "cli/output/plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/output/output_file.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/worker/profile/python_tool.hpp"

namespace infermeter {
namespace {

constexpr const char* kPlot = "Plot";

// As python/infermeter/plot.py has them.
const std::vector<std::string> kMetrics = {"p50", "throughput", "memory"};
const std::vector<std::string> kEndings = {".png", ".svg", ".pdf"};

bool is_in(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

void PlotFlags::declare(CLI::App& app) {
  app.add_option("--plot", file,
                 "Instead of printing, plot the run against batch size: a line per framework and a panel per model, "
                 "with intervals; bars with a single batch size. Needs matplotlib.")
      ->type_name("FILE.png|.svg|.pdf")
      ->group(kPlot);
  app.add_option("--metric", metric, "The metric to plot: p50 (default), throughput, memory.")
      ->type_name("NAME")
      ->group(kPlot);
}

Result<Done> PlotFlags::check(bool overwrite) const {
  if (!is_in(metric, kMetrics)) {
    const auto near = nearest_name(metric, kMetrics);
    return usage_error(fmt::format("--metric: '{}' cannot be drawn{}; {} can", printable(metric, 60),
                                   near ? fmt::format(" (did you mean '{}'?)", *near) : "", fmt::join(kMetrics, ", ")));
  }
  if (file.empty()) return usage_error("--metric says what --plot draws: give --plot FILE.png as well");
  if (!is_in(std::filesystem::path(file).extension(), kEndings)) {
    return usage_error(fmt::format("--plot: '{}' is not a picture's name; it can end with {}", printable(file, 200),
                                   fmt::join(kEndings, ", ")));
  }
  return check_new_file(file, overwrite);
}

Result<Done> write_plot(const Surroundings& world, const PlotFlags& flags, bool overwrite, const RunRecord& record,
                        const Verdict& verdict) {
  INFERMETER_TRY(const Launcher launcher, find_launcher());
  const std::string report = render(record, verdict, Format::json, {.color = false, .width = 80, .samples = false});
  const std::string ending = std::filesystem::path(flags.file).extension();
  INFERMETER_TRY(const std::string picture, run_python_tool(launcher, {.module = "infermeter.plot",
                                                                       .input = report,
                                                                       .input_name = "run.json",
                                                                       .output_name = "plot" + ending,
                                                                       .arguments = {"--metric", flags.metric},
                                                                       .interrupt = world.interrupt}));
  return write_file(flags.file, picture, overwrite);
}

}  // namespace infermeter
