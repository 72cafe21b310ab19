// A store as a site of static files (docs/publish.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {

struct SiteRequest {
  std::filesystem::path folder;
  std::string title = "infermeter";
  std::string base_url{};                              // "https://example.org/speed/": for the feed and badges
  std::vector<std::string> metrics = {"latency_p50"};  // metric_from_string; one at least
  std::size_t runs = 1000;                             // so many of the newest finished runs have a page
  bool samples = false;                                // pages of runs with their single iterations
};

struct PublishedSite {
  std::size_t runs = 0, series = 0;       // that have a page
  int written = 0, removed = 0;           // files
  std::size_t unfinished = 0;             // runs, which are left out
  std::vector<std::string> unreadable{};  // ids of runs that are damaged: they have no page
};

// Writes what is new or changed, removes what has gone. Errors: those of SiteFolder and of the store; a base URL that
// is none. What was published before stays whole.
[[nodiscard]] Result<PublishedSite> publish_site(Store& store, const SiteRequest& request,
                                                 const std::atomic<int>* interrupt = nullptr);

}  // namespace infermeter
