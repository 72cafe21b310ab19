#include "infermeter/site/site_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "infermeter/data/new_file.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view list_name = "infermeter-site.txt", list_head = "infermeter.site/1 ";
constexpr std::uintmax_t largest_list = std::uintmax_t{64} << 20;
constexpr std::array<std::string_view, 4> folders = {"assets", "badges", "runs", "series"};
// What hosts of pages look for beside a site: a checkout's folder, GitHub's two files.
constexpr std::array<std::string_view, 3> of_hosts = {".git", ".nojekyll", "CNAME"};
constexpr int files_between_lists = 256;

// A list may come from anywhere, and what it names is removed: names of ours only.
bool is_site_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::string_view folder = slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
  const std::string_view file = slash == std::string_view::npos ? name : name.substr(slash + 1);
  if (slash != std::string_view::npos && std::ranges::find(folders, folder) == folders.end()) return false;
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !file.empty() && file.front() != '.' && file.size() <= 200 && std::ranges::all_of(file, is_plain);
}

// What a writer left that was killed (NewFile): ".NAME.part-…".
bool is_leftover(const std::string& name) {
  const std::size_t part = name.rfind(".part-");
  return name.starts_with('.') && part != std::string::npos && part > 0 && is_site_name(name.substr(1, part - 1));
}

Error cannot_use(const fs::path& folder, std::string_view why) {
  return io_error(fmt::format("{} cannot hold a site: {}", in_quotes(folder.string()), why));
}

}  // namespace

SiteFolder::SiteFolder(SiteFolder&& other) noexcept
    : feed_id(std::move(other.feed_id)),
      folder_(std::move(other.folder_)),
      lock_(std::exchange(other.lock_, -1)),
      keys_(std::move(other.keys_)),
      asked_for_(std::move(other.asked_for_)),
      leftovers_(std::move(other.leftovers_)),
      written_(other.written_),
      removed_(other.removed_) {}

SiteFolder::~SiteFolder() {
  if (lock_ >= 0) ::close(lock_);
}

Result<SiteFolder> SiteFolder::open(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) return cannot_use(folder, std::strerror(errno));
  SiteFolder site(folder, lock);
  // File systems without locks lock nothing: then it is up to the user.
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return cannot_use(folder, "another infermeter is writing it; wait until that has ended");
  }
  INFERMETER_TRY_DONE(site.read_list());
  INFERMETER_TRY_DONE(site.check_others());
  return site;
}

// The head with the feed's id, then a line for each file: its key, or "-", and its name.
Result<Done> SiteFolder::read_list() {
  const fs::path file = folder_ / list_name;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file, error);
  if (!fs::exists(status)) return Done{};
  const auto damaged = [&](std::string_view why) {
    return cannot_use(folder_, fmt::format("its list {} {}; publish into an empty folder", list_name, why));
  };
  if (!fs::is_regular_file(status)) return damaged("is not a file");
  if (fs::file_size(file, error) > largest_list || error) return damaged("is too large");
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line) || !line.starts_with(list_head)) return damaged("is not of this infermeter");
  feed_id = line.substr(list_head.size());
  while (std::getline(stream, line)) {
    const std::size_t blank = line.find(' ');
    const std::string name = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (!is_site_name(name)) return damaged(fmt::format("names {}, which is not a file of a site", in_quotes(name)));
    const std::string key = line.substr(0, blank);
    keys_[name] = key == "-" ? "" : key;
  }
  return Done{};
}

// All else that is there must be on the list, so that nothing of anybody else is replaced or removed, or published with
// it.
Result<Done> SiteFolder::check_others() {
  std::vector<std::string> foreign;
  const auto look = [&](const fs::path& in, const std::string& before) -> Result<Done> {
    std::error_code error;
    for (auto entry = fs::directory_iterator(in, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const fs::file_status status = entry->symlink_status();
      const bool is_ours = before + name == list_name || keys_.contains(before + name);
      if (before.empty() && fs::is_directory(status) && std::ranges::find(folders, name) != folders.end()) continue;
      if (before.empty() && std::ranges::find(of_hosts, name) != of_hosts.end()) continue;
      if (is_leftover(name) && fs::is_regular_file(status)) {
        leftovers_.push_back(entry->path());
      } else if (!is_ours || !fs::is_regular_file(status)) {
        foreign.push_back(before + name);
      }
    }
    if (error) return cannot_use(in, error.message());
    return Done{};
  };
  INFERMETER_TRY_DONE(look(folder_, ""));
  for (const std::string_view name : folders) {
    std::error_code error;
    const fs::path inner = folder_ / name;
    if (!fs::is_directory(fs::symlink_status(inner, error))) continue;
    INFERMETER_TRY_DONE(look(inner, std::string(name) + "/"));
  }
  // Without a list nothing is ours but what a writer left that was killed while it wrote the first one.
  if (keys_.empty() && feed_id.empty()) {
    for (const fs::path& each : leftovers_) {
      std::string name = each.lexically_relative(folder_).string();
      if (!name.starts_with(fmt::format(".{}.part-", list_name))) foreign.push_back(std::move(name));
    }
  }
  if (foreign.empty()) return Done{};
  return usage_error(fmt::format(
      "{} holds {}, which `infermeter publish` did not write: name an empty folder, or one that it wrote alone",
      in_quotes(folder_.string()), in_quotes(*std::ranges::min_element(foreign))));
}

Result<Done> SiteFolder::write_list() {
  std::string text = fmt::format("{}{}\n", list_head, feed_id);
  for (const auto& [name, key] : keys_) text += fmt::format("{} {}\n", key.empty() ? "-" : key, name);
  return write_new_file(folder_ / list_name, std::as_bytes(std::span(text)), true);
}

bool SiteFolder::is_there(const SiteFile& file) const {
  const auto known = keys_.find(file.name);
  std::error_code error;
  return known != keys_.end() && known->second == file.key &&
         fs::is_regular_file(fs::symlink_status(folder_ / file.name, error));
}

Result<Done> SiteFolder::write(const std::vector<SiteFile>& files, std::vector<std::string>& unmade,
                               const std::atomic<int>* interrupt) {
  std::vector<const SiteFile*> missing;
  for (const SiteFile& file : files) {
    asked_for_.insert(file.name);
    if (!is_there(file)) missing.push_back(&file);
  }
  if (missing.empty()) return Done{};
  for (const SiteFile* file : missing) keys_[file->name].clear();
  INFERMETER_TRY_DONE(write_list());
  const auto stopped = [&]() -> Result<Done> {
    INFERMETER_TRY_DONE(write_list());
    return usage_error("stopped; what was written is there, and the same command writes the rest");
  };
  int since_list = 0;
  for (const SiteFile* file : missing) {
    if (look_at_interrupts(interrupt) > 0) return stopped();
    const auto text = file->make();
    if (!text.ok()) {
      if (look_at_interrupts(interrupt) > 0) return stopped();  // which is why
      unmade.push_back(file->name);
      asked_for_.erase(file->name);
      continue;
    }
    const fs::path path = folder_ / file->name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    INFERMETER_TRY_DONE(write_new_file(path, std::as_bytes(std::span(*text)), true));
    keys_[file->name] = file->key;
    ++written_;
    if (++since_list < files_between_lists) continue;
    since_list = 0;
    INFERMETER_TRY_DONE(write_list());
  }
  return write_list();
}

Result<Done> SiteFolder::remove_others() {
  bool changed = false;
  for (auto known = keys_.begin(); known != keys_.end();) {
    if (asked_for_.contains(known->first)) {
      ++known;
      continue;
    }
    std::error_code error;
    if (fs::remove(folder_ / known->first, error)) ++removed_;
    if (error)
      return io_error(
          fmt::format("cannot remove {}: {}", in_quotes((folder_ / known->first).string()), error.message()));
    known = keys_.erase(known);
    changed = true;
  }
  for (const fs::path& each : leftovers_) {
    std::error_code error;
    fs::remove(each, error);
  }
  if (!changed) return Done{};
  return write_list();
}

}  // namespace infermeter
