#include "infermeter/worker/kept_answer.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "infermeter/data/new_file.hpp"
#include "infermeter/data/regular_file.hpp"
#include "infermeter/text/hash.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/wire/wire.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_answer = std::uint64_t{1} << 20;
constexpr int most_files = 2000;

// Which file, and which contents of it, as far as its inode shows. A link is what it leads to.
std::string look_of(const fs::path& file) {
  struct stat found{};
  if (file.empty() || ::stat(file.c_str(), &found) != 0) return fmt::format("{} -\n", file.string());
  return fmt::format("{} {} {} {} {}.{:09}\n", file.string(), found.st_dev, found.st_ino, found.st_size,
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

// Of the modules in a folder and below it; none where there are so many files that to look at them takes longer than to
// ask.
std::optional<std::string> looks_of_modules_in(const fs::path& folder) {
  std::vector<fs::path> modules;
  int seen = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (++seen > most_files) return std::nullopt;
    const fs::path extension = entry->path().extension();
    if (extension == ".py" || extension == ".so") modules.push_back(entry->path());
  }
  std::ranges::sort(modules);
  std::string looks;
  for (const fs::path& module : modules) looks += look_of(module);
  return looks;
}

// Drivers are loaded and unloaded: their devices come and go.
std::string accelerators() {
  constexpr std::array<std::string_view, 4> kinds = {"nvidia", "dri", "kfd", "accel"};
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (std::ranges::any_of(kinds, [&](std::string_view kind) { return name.starts_with(kind); }))
      names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  std::string text = "devices";
  for (const std::string& name : names) text += fmt::format(" {}", name);
  return text + '\n';
}

std::string start_of_the_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return "boot " + id + '\n';
}

// Installing and removing a package changes the folder of packages; ldconfig's cache reports the system's libraries.
std::optional<std::string> state_of(const Launcher& launcher, const ProbeQuestion& question) {
  std::string state = look_of(launcher.worker) + look_of(question.plugin) + look_of(question.library) +
                      look_of("/etc/ld.so.cache") + accelerators() + start_of_the_machine();
  for (const fs::path& folder : launcher.python_folders) state += look_of(folder);
  if (!is_python(question.plugin)) return state;
  const auto ours = looks_of_modules_in(launcher.python_package);
  const auto beside = looks_of_modules_in(fs::path(question.plugin).parent_path());
  if (!ours || !beside) return std::nullopt;
  return state + look_of(launcher.python) + *ours + *beside;
}

std::string file_name_for(const Launcher& launcher, const ProbeQuestion& question) {
  Fnv1a hash;
  for (const std::string& one : {question.name, question.plugin, question.library, launcher.python.string()}) {
    hash.add(one);
    hash.add('\0');
  }
  return fmt::format("{:016x}", hash.value());
}

// Nobody else's word is taken for a back end's.
bool is_ours(const fs::path& file) {
  struct stat found{};
  return ::lstat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == ::geteuid();
}

}  // namespace

KeptAnswer::KeptAnswer(const fs::path& cache, const Launcher& launcher, const ProbeQuestion& question) {
  if (cache.empty() || question.sandbox == Sandbox::strict) return;
  auto state = state_of(launcher, question);
  if (!state) return;
  state_ = *std::move(state);
  file_ = cache / "backends" / file_name_for(launcher, question);
}

std::optional<BackendInfo> KeptAnswer::read() const {
  if (file_.empty() || !is_ours(file_)) return std::nullopt;
  const auto bytes = read_file(file_.string(), longest_answer);
  if (!bytes.ok()) return std::nullopt;
  std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (!text.starts_with(state_)) return std::nullopt;
  text.remove_prefix(state_.size());
  const std::size_t begin = text.find('{');  // of the JSON, whose own field has to be what is before it
  auto info = backend_info_from_json(text.substr(std::min(begin, text.size())));
  if (!info.ok() || text.substr(0, begin) != look_of(info->library)) return std::nullopt;
  return std::move(info).value();
}

void KeptAnswer::keep(const BackendInfo& info) const {
  if (file_.empty() || !info.error.empty()) return;
  std::error_code error;
  fs::create_directories(file_.parent_path(), error);
  const std::string text = state_ + look_of(info.library) + backend_info_to_json(info);
  [[maybe_unused]] const auto written = write_new_file(file_, std::as_bytes(std::span(text)), true);
}

}  // namespace infermeter
