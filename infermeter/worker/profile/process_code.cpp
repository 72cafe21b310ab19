#include "infermeter/worker/profile/process_code.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_code_bytes = std::size_t{16} << 20U;
constexpr std::size_t most_mappings = 16384, most_threads = 4096;

// Takes a number and the character behind it off the front.
template <class T>
bool take_number(std::string_view& text, int base, char behind, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end == text.data() + text.size() || *end != behind) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

// "7f00-8f00 r-xp 00001000 fd:01 1234    /usr/lib/x.so"
bool parse_line(std::string_view line, MappedCode& code) {
  if (!take_number(line, 16, '-', code.begin) || !take_number(line, 16, ' ', code.end)) return false;
  if (line.size() < 5 || line[2] != 'x' || line[4] != ' ') return false;
  line.remove_prefix(5);
  if (!take_number(line, 16, ' ', code.file_offset) || !take_number(line, 16, ':', code.device_major) ||
      !take_number(line, 16, ' ', code.device_minor))
    return false;
  const std::size_t end = std::min(line.find(' '), line.size());
  if (std::from_chars(line.data(), line.data() + end, code.inode).ec != std::errc()) return false;
  line.remove_prefix(end);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  code.path = line;
  return code.begin < code.end;
}

std::string read_large_proc_file(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[65536];
  while (file && text.size() < most_code_bytes) {
    const ssize_t got = read(file.get(), part, sizeof part);
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

std::vector<MappedCode> parse_maps(std::string_view text) {
  std::vector<MappedCode> found;
  while (!text.empty() && found.size() < most_mappings) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    MappedCode code;
    if (parse_line(text.substr(0, end), code)) found.push_back(std::move(code));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::vector<MappedCode> read_maps(pid_t process) {
  return parse_maps(read_large_proc_file(fmt::format("/proc/{}/maps", process)));
}

std::map<std::uint32_t, std::string> read_thread_names(pid_t process) {
  std::map<std::uint32_t, std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(fmt::format("/proc/{}/task", process), error), end;
  for (; !error && entry != end && names.size() < most_threads; entry.increment(error)) {
    const std::string number = entry->path().filename().string();
    std::uint32_t thread = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), thread).ec != std::errc()) continue;
    std::string name = read_proc_file((entry->path() / "comm").string());
    if (name.ends_with('\n')) name.pop_back();
    if (!name.empty()) names.emplace(thread, std::move(name));
  }
  return names;
}

}  // namespace infermeter
