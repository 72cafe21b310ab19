#include "infermeter/worker/wall/process_tree.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/machine/proc_file.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_descendants = 1024;
constexpr double times_its_cost = 49;     // what is read of processes is read for at most 2 % of the time
constexpr double between_files_s = 0.25;  // a look at descriptors takes some 100 us

void add_numbers(std::string_view text, std::vector<pid_t>& numbers) {
  while (!text.empty()) {
    pid_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc()) numbers.push_back(number);
    const std::size_t used = error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 1;
    text.remove_prefix(std::min(used, text.size()));
  }
}

// The last field of /proc/loadavg (proc(5)): the number that was given to a process or thread last.
std::string last_made() {
  const std::string text = read_proc_file("/proc/loadavg");
  return text.substr(std::min(text.rfind(' '), text.size()));
}

// resident and shared of /proc/PID/statm, in bytes.
struct Statm {
  std::uint64_t resident = 0, shared = 0;
};
std::optional<Statm> statm_of(pid_t process) {
  const std::string text = read_proc_file(fmt::format("/proc/{}/statm", process));
  std::vector<pid_t> pages;
  add_numbers(text, pages);
  if (pages.size() < 3) return std::nullopt;
  const auto bytes = [page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))](pid_t count) {
    return static_cast<std::uint64_t>(count) * page;
  };
  return Statm{bytes(pages[1]), bytes(pages[2])};
}

std::optional<std::uint64_t> proportional_bytes(pid_t process) {
  return kilobytes_field(read_proc_file(fmt::format("/proc/{}/smaps_rollup", process)), "\nPss:");
}

// A process may forbid others to read its maps; its resident set can be read by everyone.
std::uint64_t bytes_of_descendant(pid_t process) {
  if (const auto bytes = proportional_bytes(process)) return *bytes;
  return statm_of(process).value_or(Statm{}).resident;
}

// Of its memfd: what has been written to them is in memory, mapped or not.
std::uint64_t bytes_of_memory_files(pid_t process) {
  constexpr std::string_view memory_file = "/memfd:";
  constexpr std::uint64_t bytes_per_block = 512;  // stat(2)
  std::uint64_t bytes = 0;
  std::vector<ino_t> seen;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", process), error), end;
       !error && entry != end; entry.increment(error)) {
    std::array<char, memory_file.size()> target{};
    const char* const path = entry->path().c_str();
    struct stat status{};
    if (readlink(path, target.data(), target.size()) != static_cast<ssize_t>(target.size())) continue;
    if (std::string_view(target.data(), target.size()) != memory_file || stat(path, &status) != 0) continue;
    if (std::ranges::find(seen, status.st_ino) != seen.end()) continue;
    seen.push_back(status.st_ino);
    bytes += static_cast<std::uint64_t>(status.st_blocks) * bytes_per_block;
  }
  return bytes;
}

// Of a /dev/shm that is not ours.
std::uint64_t bytes_of_own_shared_memory(pid_t process) {
  const std::string path = fmt::format("/proc/{}/root/dev/shm", process);
  struct stat theirs{}, ours{};
  struct statfs used{};
  if (stat(path.c_str(), &theirs) != 0 || stat("/dev/shm", &ours) != 0 || theirs.st_dev == ours.st_dev) return 0;
  if (statfs(path.c_str(), &used) != 0 || used.f_type != TMPFS_MAGIC) return 0;
  return (used.f_blocks - used.f_bfree) * static_cast<std::uint64_t>(used.f_bsize);
}

}  // namespace

std::optional<std::vector<pid_t>> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  bool readable = false;
  for (std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), error), end;
       !error && thread != end; thread.increment(error)) {
    const std::string file = (thread->path() / "children").string();
    readable = readable || access(file.c_str(), R_OK) == 0;
    add_numbers(read_proc_file(file), children);
  }
  if (!readable) return std::nullopt;
  return children;
}

void Seldom::run(const std::function<void()>& what, double pause_s) {
  const double begin_s = clock_();
  what();
  const double end_s = clock_();
  again_s_ = end_s + std::max(pause_s, times_its_cost * (end_s - begin_s));
}

std::uint64_t SeldomSum::at(std::uint64_t cheap, std::uint64_t limit, const std::function<std::uint64_t()>& take) {
  const std::uint64_t grown = cheap > cheap_ ? taken_ + (cheap - cheap_) : taken_ - std::min(taken_, cheap_ - cheap);
  if (!pace_.is_due() && (limit == 0 || grown <= limit)) return grown;
  pace_.run([&] { taken_ = take(); });
  cheap_ = cheap;
  return taken_;
}

void ProcessTree::search() {
  descendants_ = children_of(supervisor_).value_or(std::vector<pid_t>());
  std::erase(descendants_, worker_);
  const auto add_children = [this](pid_t process) {
    const auto children = children_of(process).value_or(std::vector<pid_t>());
    descendants_.insert(descendants_.end(), children.begin(), children.end());
  };
  add_children(worker_);
  for (std::size_t i = 0; i < descendants_.size() && i < most_descendants; ++i) add_children(descendants_[i]);
}

const std::vector<pid_t>& ProcessTree::descendants() {
  if (!search_.is_due()) return descendants_;
  std::string last = last_made();
  if (!last.empty() && last == last_made_) return descendants_;
  last_made_ = std::move(last);
  search_.run([this] { search(); });
  return descendants_;
}

std::uint64_t ProcessTree::bytes_in_memory_files() {
  if (!files_.is_due()) return in_files_;
  const auto sum = [this] {
    in_files_ = bytes_of_memory_files(worker_) + bytes_of_own_shared_memory(worker_);
    for (const pid_t process : descendants_) in_files_ += bytes_of_memory_files(process);
  };
  files_.run(sum, between_files_s);
  return in_files_;
}

std::optional<std::uint64_t> ProcessTree::resident_bytes(std::uint64_t own_bytes, std::uint64_t limit) {
  const auto worker = statm_of(worker_);
  if (!worker) return std::nullopt;
  const std::uint64_t own = std::min(own_bytes, worker->shared);
  // Pages of memory files that are mapped are in the resident set already.
  const std::uint64_t in_files = bytes_in_memory_files();
  const std::uint64_t in_both = std::min(in_files, std::max(own_bytes, worker->shared));
  const std::uint64_t of_worker = worker->resident - own + (in_files - in_both);
  std::uint64_t of_others = 0;
  for (const pid_t process : descendants()) of_others += statm_of(process).value_or(Statm{}).resident;
  if (of_others == 0) return of_worker;
  const auto sum_of_others = [this] {
    std::uint64_t sum = 0;
    for (const pid_t process : descendants_) sum += bytes_of_descendant(process);
    return sum;
  };
  const std::uint64_t room = limit > of_worker ? limit - of_worker : 0;
  const std::uint64_t bytes = of_worker + others_.at(of_others, room, sum_of_others);
  if (limit == 0 || bytes <= limit) return bytes;
  // Pages that a child has inherited are in both: counted in parts, they are counted once.
  return all_.at(of_worker + of_others, limit, [&] {
    const std::uint64_t exact = proportional_bytes(worker_).value_or(worker->resident);
    return exact - std::min(own, exact) + (in_files - in_both) + sum_of_others();
  });
}

}  // namespace infermeter
