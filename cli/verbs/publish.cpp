// infermeter publish: the store as a site of static files.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/flags/open_store.hpp"
#include "cli/flags/plan_flags.hpp"
#include "cli/output/help.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/plan/quantity.hpp"
#include "infermeter/site/publish.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/question.hpp"

namespace infermeter {
namespace {

constexpr std::int64_t most_runs = 1'000'000;

struct PublishOptions {
  SomeFlags flags;
  SiteRequest site;
  std::string folder;
  std::vector<std::string> metrics;
  std::string runs;
};

HelpText publish_help() {
  return {
      .usage = "infermeter publish DIR [flags]",
      .about =
          "Writes what is stored as static pages that work from disk and from any web server: an index of subjects and "
          "machines, a page for each series with its changes, the report of each run, badges, and a feed of changes. "
          "Run again with the same folder, it writes what is new or changed and removes what is gone.",
      .examples = {{"infermeter publish site", "The runs of results/ as a site in the folder site/."},
                   {"infermeter publish site --title 'Speed of our models' --metric p50 --metric peak_memory",
                    "Histories of two metrics."},
                   {"infermeter publish public --store postgresql:///team --base-url https://example.org/speed/",
                    "A team's database, with absolute links in the feed and in the badges' Markdown."}},
      .notes = {"DIR must be empty or hold a site that `infermeter publish` wrote, and nothing else. Pages show what "
                "reports show: commands, paths, names of hosts. The exit code does not depend on the results.",
                kExitCodes}};
}

Result<SiteRequest> site_request(const PublishOptions& options) {
  SiteRequest request = options.site;
  request.folder = options.folder;
  if (!options.runs.empty()) {
    const auto runs = integer_from_string(options.runs, 1, most_runs);
    if (!runs) return usage_error("--runs: " + runs.error().message);
    request.runs = static_cast<std::size_t>(*runs);
  }
  if (options.metrics.empty()) return request;
  request.metrics.clear();
  for (const std::string& name : options.metrics) {
    auto metric = metric_from_string(name);
    if (!metric) return usage_error("--metric: " + metric.error().message);
    if (std::ranges::find(request.metrics, *metric) == request.metrics.end())
      request.metrics.push_back(std::move(*metric));
  }
  return request;
}

Result<int> publish_action(Surroundings& world, const PublishOptions& options) {
  INFERMETER_TRY(const SiteRequest request, site_request(options));
  INFERMETER_TRY(auto store, open_store(world, options.flags, Store::Mode::write_if_possible));
  INFERMETER_TRY(const PublishedSite site, publish_site(store, request, world.interrupt));
  for (const std::string& run : site.unreadable) {
    world.err << fmt::format("infermeter: run {} is damaged and has no page (`infermeter report {}` says how)\n",
                             printable(run), printable(run));
  }
  if (site.unfinished > 0) {
    world.err << fmt::format("infermeter: {} left out, not finished\n", counted(site.unfinished, "run is", "runs are"));
  }
  world.out << fmt::format("{}: {}, {}; {} written, {} removed\n", printable(options.folder), counted(site.runs, "run"),
                           counted(site.series, "series", "series"), counted(site.written, "file"), site.removed);
  return 0;
}

}  // namespace

Action declare_publish(CLI::App& app) {
  auto options = std::make_shared<PublishOptions>();
  set_help(app, publish_help());
  app.add_option("DIR", options->folder, "Folder for the site; created if it does not exist.")
      ->required()
      ->type_name("")
      ->group("What");
  app.add_option(
         "--metric", options->metrics,
         "Histories of this metric: p50 (default), p90, p95, p99, mean, throughput, peak_memory, load_time, "
         "compile_time, first_inference_time, or a figure of a load, for example response_p99. May be repeated.")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group("What");
  app.add_option("--runs", options->runs, "Pages for the newest N runs. Default: 1000. Histories contain all runs.")
      ->type_name("N")
      ->group("What");
  app.add_flag("--samples", options->site.samples,
               "Include single iterations in the pages of runs, which makes them larger.")
      ->group("What");
  app.add_option("--title", options->site.title, "The site's name.")
      ->type_name("TEXT")
      ->capture_default_str()
      ->group("What");
  app.add_option("--base-url", options->site.base_url,
                 "Address of the published site, for absolute links in feed and badges.")
      ->type_name("URL")
      ->group("What");
  options->flags.declare(app, {"output_dir", "store"});
  return [options](Surroundings& world) { return publish_action(world, *options); };
}

}  // namespace infermeter
