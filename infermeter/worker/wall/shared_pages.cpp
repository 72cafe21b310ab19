#include "infermeter/worker/wall/shared_pages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "infermeter/trial/machine/memory_probe.hpp"
#include "infermeter/trial/machine/proc_file.hpp"

namespace infermeter {
namespace {

constexpr std::uint64_t bytes_per_block = 512;  // stat(2)

std::uint64_t kilobytes(std::string_view text, std::string_view key) { return kilobytes_field(text, key).value_or(0); }

std::uint64_t bytes_on_disk(const struct stat& status) {
  return static_cast<std::uint64_t>(status.st_blocks) * bytes_per_block;
}

bool is_on_tmpfs(const std::string& path) {
  struct statfs system{};
  return statfs(path.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

std::string target_of(const std::string& link) {
  std::array<char, 4096> buffer{};
  const ssize_t length = readlink(link.c_str(), buffer.data(), buffer.size());
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

// Kernels before 5.8 do not report.
std::uint64_t flights_in(pid_t process, const std::string& descriptor) {
  const std::string facts = read_proc_file(fmt::format("/proc/{}/fdinfo/{}", process, descriptor));
  return number_after(facts, "\nscm_fds:").value_or(0);
}

// The size of what lies in a folder on a tmpfs. What a worker makes deeper or wider than this is found by its end.
std::uint64_t bytes_in_folder(const std::filesystem::path& folder) {
  constexpr std::size_t most_files = 100'000;
  if (folder.empty() || !is_on_tmpfs(folder.string())) return 0;
  std::uint64_t bytes = 0;
  std::size_t files = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(
      folder, std::filesystem::directory_options::skip_permission_denied, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && entry != end && files < most_files; ++files) {
    struct stat status{};
    if (lstat(entry->path().c_str(), &status) == 0) bytes += bytes_on_disk(status);
    entry.increment(error);
  }
  return bytes;
}

// "7f00-8f00 rw-s 00001000 00:01 1234 …": a mapping of what is shared and on no disk. Its end, counted in its file.
struct SharedMapping {
  std::uint64_t inode = 0, end = 0;
};
bool parse_shared_mapping(const std::string& line, SharedMapping& found) {
  std::uint64_t begin = 0, end = 0, offset = 0;
  unsigned major = 0, minor = 0;
  std::array<char, 5> rights{};
  if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu", &begin, &end, rights.data(), &offset, &major, &minor,
                  &found.inode) != 7)
    return false;
  found.end = offset + (end - begin);
  return rights[3] == 's' && major == 0 && found.inode != 0;
}

void add_shared_mappings(pid_t process, std::map<std::uint64_t, std::uint64_t>& ends) {
  constexpr int most_lines = 100'000;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::string line;
  for (int i = 0; i < most_lines && std::getline(maps, line); ++i) {
    SharedMapping found;
    if (!parse_shared_mapping(line, found)) continue;
    std::uint64_t& end = ends[found.inode];
    end = std::max(end, found.end);
  }
}

}  // namespace

ProcessSize size_of_process(pid_t process) {
  const std::string status = read_proc_file(fmt::format("/proc/{}/status", process));
  return {.beside_bytes =
              kilobytes(status, "\nVmPTE:") + kilobytes(status, "\nVmSwap:") + kilobytes(status, "\nHugetlbPages:"),
          .threads = number_after(status, "\nThreads:").value_or(0)};
}

void HeldFiles::add(pid_t process, bool with_flights) {
  constexpr std::string_view memory_file = "/memfd:", socket = "socket:", deleted = " (deleted)";
  std::error_code error;
  for (std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", process), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string path = entry->path().string();
    const std::string target = target_of(path);
    if (target.starts_with(socket)) ++sockets;
    if (target.starts_with(socket) && with_flights) in_flight += flights_in(process, entry->path().filename().string());
    struct stat status{};
    const bool is_memory = target.starts_with(memory_file) || (target.ends_with(deleted) && is_on_tmpfs(path));
    if (is_memory && stat(path.c_str(), &status) == 0 && seen_.emplace(status.st_dev, status.st_ino).second)
      bytes += bytes_on_disk(status);
  }
}

std::uint64_t bytes_of_own_shared_memory(pid_t process) {
  const std::string path = fmt::format("/proc/{}/root/dev/shm", process);
  struct stat theirs{}, ours{};
  struct statfs used{};
  if (stat(path.c_str(), &theirs) != 0 || stat("/dev/shm", &ours) != 0 || theirs.st_dev == ours.st_dev) return 0;
  if (statfs(path.c_str(), &used) != 0 || used.f_type != TMPFS_MAGIC) return 0;
  return (used.f_blocks - used.f_bfree) * static_cast<std::uint64_t>(used.f_bsize);
}

std::uint64_t shared_memory_in_use() { return kilobytes(read_proc_file("/proc/meminfo"), "\nShmem:"); }

std::uint64_t most_shared_memory_of(std::span<const pid_t> processes, const std::filesystem::path& folder) {
  std::map<std::uint64_t, std::uint64_t> ends;
  HeldFiles held;
  for (const pid_t process : processes) {
    held.add(process, true);
    add_shared_mappings(process, ends);
  }
  if (held.in_flight > 0) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = held.bytes + bytes_in_folder(folder);
  for (const auto& [inode, end] : ends) bytes += end;
  return bytes;
}

std::uint64_t mapped_shared_memory_of(pid_t process) {
  return kilobytes(read_proc_file(fmt::format("/proc/{}/smaps_rollup", process)), "\nPss_Shmem:");
}

}  // namespace infermeter
