#include <array>
#include <cctype>
#include <fstream>
#include <optional>

#include "infermeter/machine/machine.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_line = 4096;
constexpr int most_lines = 1'000'000;
constexpr int most_parents = 64;
constexpr int most_links = 8;  // symbolic references that lead to each other

// Reads line by line with a bound on each; `take` returns true to stop.
template <class Take>
void each_line(const fs::path& file, Take take) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, longest_line> line{};
  for (int i = 0; i < most_lines && stream.getline(line.data(), line.size()); ++i) {
    std::string_view text(line.data());
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    if (take(text)) return;
  }
}

std::string first_line(const fs::path& file) {
  std::string first;
  each_line(file, [&first](std::string_view line) {
    first = line;
    return true;
  });
  return first;
}

// SHA-1 or SHA-256.
bool is_commit(std::string_view text) {
  if (text.size() != 40 && text.size() != 64) return false;
  for (const char c : text) {
    if (!std::isxdigit(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

bool is_plain_reference(std::string_view name) {
  return name.starts_with("refs/") && name.find("..") == std::string_view::npos;
}

// The folder that holds HEAD: `.git` itself, or what the file `.git` of a worktree or a submodule points to.
std::optional<fs::path> git_folder(const fs::path& start) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(fs::absolute(start, error), error);
  for (int i = 0; i < most_parents && !folder.empty(); ++i, folder = folder.parent_path()) {
    const fs::path candidate = folder / ".git";
    if (fs::is_directory(candidate, error)) return candidate;
    if (const std::string line = first_line(candidate); line.starts_with("gitdir: ")) return folder / line.substr(8);
    if (folder == folder.root_path()) break;
  }
  return std::nullopt;
}

// A worktree keeps its own HEAD; branches and packed-refs lie in the common folder.
fs::path common_folder(const fs::path& git) {
  const std::string line = first_line(git / "commondir");
  return line.empty() ? git : git / line;
}

std::string packed(const fs::path& common, const std::string& reference) {
  std::string commit;
  each_line(common / "packed-refs", [&](std::string_view line) {
    const auto space = line.find(' ');
    if (space == std::string_view::npos || line.substr(space + 1) != reference) return false;
    commit = line.substr(0, space);
    return true;
  });
  return commit;
}

std::string commit_of(const fs::path& git) {
  const fs::path common = common_folder(git);
  std::string text = first_line(git / "HEAD");
  for (int i = 0; i < most_links && text.starts_with("ref: "); ++i) {
    const std::string reference = text.substr(5);
    if (!is_plain_reference(reference)) return "";
    text = first_line(git / reference);
    if (text.empty()) text = first_line(common / reference);
    if (text.empty()) text = packed(common, reference);
  }
  return is_commit(text) ? text : "";
}

}  // namespace

void read_git(Environment& environment, const std::filesystem::path& folder) {
  const auto git = git_folder(folder);
  environment.git_commit = git ? commit_of(*git) : "";
}

}  // namespace infermeter
