// The folder of a site: which files in it are ours, and which are as they should be. A list of them,
// infermeter-site.txt, is written before the first file and after the last one, so that a publishing that was
// interrupted is known to be.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// A file that a site is to have. It is made only where its key, a digest of what it is made of, has changed.
struct SiteFile {
  std::string name;  // "index.html", "runs/20261121-114200-3f9a.html"
  std::string key;
  std::function<Result<std::string>()> make;
};

class SiteFolder {
 public:
  // Makes the folder where it is not there. Errors: it holds a file or folder that no site of ours has, its list cannot
  // be read, another infermeter is writing it, it cannot be written.
  [[nodiscard]] static Result<SiteFolder> open(const std::filesystem::path& folder);
  SiteFolder(SiteFolder&& other) noexcept;
  SiteFolder& operator=(SiteFolder&&) = delete;
  SiteFolder(const SiteFolder&) = delete;
  SiteFolder& operator=(const SiteFolder&) = delete;
  ~SiteFolder();

  // What the feed is known by; empty in a new folder.
  std::string feed_id;

  // Writes those that are not there as they should be, each whole or not at all. One that cannot be made (`unmade`) is
  // left out, and the others are written; one that cannot be written ends it. `interrupt`: ends it with an error; what
  // was written is known then.
  [[nodiscard]] Result<Done> write(const std::vector<SiteFile>& files, std::vector<std::string>& unmade,
                                   const std::atomic<int>* interrupt);
  // Removes all that was not asked for since the folder was opened.
  [[nodiscard]] Result<Done> remove_others();

  [[nodiscard]] int written() const { return written_; }
  [[nodiscard]] int removed() const { return removed_; }

 private:
  SiteFolder(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  [[nodiscard]] Result<Done> read_list();
  [[nodiscard]] Result<Done> check_others();
  [[nodiscard]] Result<Done> write_list();
  [[nodiscard]] bool is_there(const SiteFile& file) const;

  std::filesystem::path folder_;
  int lock_ = -1;
  std::map<std::string, std::string> keys_;  // by name; "": ours, and not known to be whole
  std::set<std::string> asked_for_;
  std::vector<std::filesystem::path> leftovers_;
  int written_ = 0, removed_ = 0;
};

}  // namespace infermeter
