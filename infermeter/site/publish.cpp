#include "infermeter/site/publish.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "infermeter/models/sha256.hpp"
#include "infermeter/report/forms/document_run.hpp"
#include "infermeter/report/forms/page.hpp"
#include "infermeter/report/site/site.hpp"
#include "infermeter/site/site_folder.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/version.hpp"

namespace infermeter {
namespace {

constexpr std::size_t digits_of_name = 24, digits_of_key = 16;

std::string digest_of(std::string_view text, std::size_t digits) { return sha256_of_text(text).substr(0, digits); }

// What makes pages: another infermeter makes them anew.
std::string generator() { return fmt::format("{} {} {}", INFERMETER_VERSION, page.script_hash, page.style_hash); }

Result<std::string> checked_base(std::string base) {
  if (base.empty()) return base;
  const auto is_plain = [](unsigned char c) {
    return c > 0x20 && c < 0x7f && std::string_view("<>\"\\^`{|}").find(static_cast<char>(c)) == std::string_view::npos;
  };
  if ((!base.starts_with("https://") && !base.starts_with("http://")) || !std::ranges::all_of(base, is_plain) ||
      base.find_first_of("?#") != std::string::npos) {
    return usage_error(
        fmt::format("--base-url: {} is not an address of a folder, as https://example.org/speed/ is", in_quotes(base)));
  }
  if (!base.ends_with('/')) base += '/';
  return base;
}

// An id as infermeter makes them is a file's name; another one, which a store may hold, is hashed.
std::string file_of_run(const std::string& id) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  const bool is_ours =
      id.size() <= 40 && !id.empty() && id.front() >= '0' && id.front() <= '9' && std::ranges::all_of(id, is_plain);
  return fmt::format("runs/{}.html", is_ours ? id : "x-" + digest_of(id, digits_of_name));
}

std::string uuid_of(std::string_view text) {
  const std::string hex = sha256_of_text(text);
  return fmt::format("urn:uuid:{}-{}-8{}-8{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 3),
                     hex.substr(15, 3), hex.substr(18, 12));
}

// Writes pages of runs in an order in which the run before is often the one that was written last.
class Publishing {
 public:
  Publishing(Store& store, const SiteRequest& request, std::string base_url, SiteFolder& folder,
             const std::atomic<int>* interrupt)
      : store_(store), request_(request), folder_(folder), interrupt_(interrupt) {
    site_.base_url = std::move(base_url);
  }

  Result<PublishedSite> publish() {
    INFERMETER_TRY_DONE(read_series());
    INFERMETER_TRY_DONE(read_runs());
    settle_links();
    INFERMETER_TRY_DONE(write_assets());
    INFERMETER_TRY_DONE(write_runs());
    INFERMETER_TRY_DONE(write_others());
    INFERMETER_TRY_DONE(folder_.remove_others());
    result_.runs = site_.runs.size();
    result_.series = site_.series.size();
    result_.written = folder_.written();
    result_.removed = folder_.removed();
    return std::move(result_);
  }

 private:
  Result<Done> read_series() {
    INFERMETER_TRY(const auto completion, store_.complete_figures());
    result_.unreadable = completion.unreadable;
    std::map<std::string, double> last_at;
    std::set<std::string> read;
    for (const std::string& metric : request_.metrics) {
      if (!read.insert(metric).second) continue;
      const FigureQuery query{.metric = metric, .series = {}, .machine = {}};
      INFERMETER_TRY(const auto machines, store_.list_machines(query));
      for (const MachineName& machine : machines) {
        if (std::ranges::find(site_.machines, machine.machine, &MachineName::machine) == site_.machines.end())
          site_.machines.push_back(machine);
      }
      INFERMETER_TRY(auto figures, store_.figures(query));
      for (History& history : judge_histories(std::move(figures))) {
        if (history.figures.empty()) continue;
        double& last = last_at[history.machine];
        last = std::max(last, history.figures.back().created_at);
        std::string name =
            digest_of(fmt::format("{}\n{}\n{}", history.metric, history.machine, history.series), digits_of_name);
        site_.series.push_back({.history = std::move(history), .name = std::move(name)});
      }
    }
    // The machine that was used last stands first.
    std::ranges::stable_sort(site_.machines, std::ranges::greater{},
                             [&](const MachineName& machine) { return last_at[machine.machine]; });
    return Done{};
  }

  Result<Done> read_runs() {
    INFERMETER_TRY(listed_, store_.list_runs());
    std::ranges::stable_sort(listed_, {}, &RunListing::created_at);  // copied ones came last
    std::map<std::vector<std::string>, const RunListing*> last_of;
    std::vector<SiteRun> all;  // the oldest first
    for (const RunListing& run : listed_) {
      if (!run.damage.empty()) {
        note_unreadable(run.id);
        continue;
      }
      if (!run.finished) {
        ++result_.unfinished;
        continue;
      }
      const RunListing*& last = last_of[run.labels];
      const bool has_before = last != nullptr && last->created_at < run.created_at;
      all.push_back({.id = run.id,
                     .created_at = run.created_at,
                     .labels = run.labels,
                     .tags = run.tags,
                     .note = run.note,
                     .page = file_of_run(run.id),
                     .before = has_before ? last->id : ""});
      by_id_[run.id] = &run;
      last = &run;
    }
    site_.without_page = all.size() - std::min(all.size(), request_.runs);
    for (SiteRun& run : all | std::views::reverse | std::views::take(static_cast<std::ptrdiff_t>(request_.runs)))
      site_.runs.push_back(std::move(run));
    if (folder_.feed_id.empty())
      folder_.feed_id = uuid_of(fmt::format("{}\n{}", request_.title, all.empty() ? "" : all.front().id));
    return Done{};
  }

  void note_unreadable(const std::string& run) {
    if (std::ranges::find(result_.unreadable, run) == result_.unreadable.end()) result_.unreadable.push_back(run);
  }

  void settle_links() {
    site_.title = request_.title;
    site_.feed_id = site_.base_url.empty() ? folder_.feed_id : site_.base_url + "feed.xml";
    site_.script = fmt::format("assets/report-{}.js", digest_of(page.script, digits_of_key));
    site_.style = fmt::format("assets/report-{}.css", digest_of(page.style, digits_of_key));
    std::map<std::string_view, SiteRun*> runs;
    for (SiteRun& run : site_.runs) runs[run.id] = &run;
    for (std::size_t i = 0; i < site_.series.size(); ++i) {
      for (const Figure& figure : site_.series[i].history.figures) {
        const auto run = runs.find(figure.run);
        if (run != runs.end()) run->second->series.push_back(i);
      }
    }
  }

  Result<Done> write_assets() {
    std::vector<std::string> unmade;
    return folder_.write({file(site_.script, std::string(page.script)), file(site_.style, std::string(page.style))},
                         unmade, interrupt_);
  }

  Result<Done> write_runs() {
    std::vector<SiteFile> files;
    for (const SiteRun& run : site_.runs | std::views::reverse) {
      PageFrame frame = site_run_frame(site_, run);
      files.push_back({.name = run.page, .key = key_of(run, frame), .make = [this, &run, frame = std::move(frame)] {
                         return run_page(run, frame);
                       }});
    }
    // Runs of the same subjects one after the other: each shows what has changed since the one before.
    std::ranges::stable_sort(files, {}, [&](const SiteFile& each) { return labels_of_.at(each.name); });
    std::vector<std::string> unmade;
    INFERMETER_TRY_DONE(folder_.write(files, unmade, interrupt_));
    last_.reset();
    if (unmade.empty()) return Done{};
    if (store_.is_lost()) return io_error("the connection to the store was lost; the same command writes the rest");
    std::erase_if(site_.runs, [&](const SiteRun& run) {
      const bool is_damaged = std::ranges::find(unmade, run.page) != unmade.end();
      if (is_damaged) note_unreadable(run.id);
      return is_damaged;
    });
    return Done{};
  }

  Result<Done> write_others() {
    std::vector<SiteFile> files;
    for (const SiteSeries& series : site_.series) {
      files.push_back(file(fmt::format("series/{}.html", series.name), site_series_page(site_, series)));
      files.push_back(file(fmt::format("badges/{}.svg", series.name), site_badge(series.history)));
    }
    files.push_back(file("runs.html", site_runs(site_)));
    files.push_back(file("feed.xml", site_feed(site_)));
    files.push_back(file("index.html", site_index(site_)));
    std::vector<std::string> unmade;
    return folder_.write(files, unmade, interrupt_);
  }

  // A finished run never changes: what of it decides about its page is known without reading it.
  std::string key_of(const SiteRun& run, const PageFrame& frame) {
    const RunListing& listed = *by_id_.at(run.id);
    labels_of_[run.page] = fmt::format("{}", fmt::join(run.labels, "\n"));
    return digest_of(
        fmt::format("{}\n{}\n{}\n{}\n{} {}\n{}\n{}\n{}\n{}", generator(), request_.title, run.id, run.created_at,
                    listed.trials_done, listed.trials_planned, run.before, request_.samples, frame.above, frame.below),
        digits_of_key);
  }

  Result<std::string> run_page(const SiteRun& run, const PageFrame& frame) {
    const RunRecord* before = nullptr;
    if (!run.before.empty()) {
      if (!last_ || last_->id != run.before) {
        auto loaded = store_.load_run(run.before);
        last_ = loaded.ok() ? std::optional(std::move(*loaded)) : std::nullopt;
      }
      if (last_) before = &*last_;
    }
    INFERMETER_TRY(RunRecord record, store_.load_run(run.id));
    const RenderOptions options{.samples = request_.samples};
    std::string text = site_run_page(run_part(record, judge(record), options, before), frame);
    last_ = std::move(record);
    return text;
  }

  static SiteFile file(std::string name, std::string text) {
    std::string key = digest_of(text, digits_of_key);
    return {.name = std::move(name), .key = std::move(key), .make = [text = std::move(text)] {
              return Result<std::string>(text);
            }};
  }

  Store& store_;
  const SiteRequest& request_;
  SiteFolder& folder_;
  const std::atomic<int>* interrupt_;
  Site site_{};
  PublishedSite result_;
  std::vector<RunListing> listed_;
  std::map<std::string_view, const RunListing*> by_id_;
  std::map<std::string, std::string> labels_of_;  // by page
  std::optional<RunRecord> last_;                 // that a page was made of
};

}  // namespace

Result<PublishedSite> publish_site(Store& store, const SiteRequest& request, const std::atomic<int>* interrupt) {
  INFERMETER_TRY(std::string base_url, checked_base(request.base_url));
  INFERMETER_TRY(SiteFolder folder, SiteFolder::open(request.folder));
  return Publishing(store, request, std::move(base_url), folder, interrupt).publish();
}

}  // namespace infermeter
