#include "cli/output/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "infermeter/data/new_file.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

// A store, most likely.
bool is_database(const fs::path& file) {
  constexpr std::string_view head = "SQLite format 3";
  std::string text(head.size(), '\0');
  return std::ifstream(file, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size())) &&
         text == head;
}

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  const auto place = [&](const fs::path& path) { return fs::weakly_canonical(fs::absolute(path, error), error); };
  return place(a) == place(b);
}

}  // namespace

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

Result<Done> check_output_file(const fs::path& file, bool overwrite) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file, error);
  if (!fs::exists(status)) return Done{};
  if (!overwrite) return usage_error(fmt::format("{} exists already: --force writes over it", file.string()));
  if (!fs::is_regular_file(status) && !fs::is_symlink(status))
    return usage_error(fmt::format("{} is not a regular file and is not overwritten", file.string()));
  if (fs::is_regular_file(file, error) && is_database(file))
    return usage_error(fmt::format("{} is a database and is not overwritten; give another name", file.string()));
  return Done{};
}

Result<Done> check_distinct(std::span<const NamedFile> files) {
  for (auto one = files.begin(); one != files.end(); ++one) {
    const auto same = [&](const NamedFile& other) { return !one->file.empty() && is_same(one->file, other.file); };
    const auto other = std::find_if(files.begin(), one, same);
    if (other == one) continue;
    return usage_error(fmt::format("{} and {} name one file, {}: give each its own", other->flag, one->flag,
                                   printable(one->file.string(), 200)));
  }
  return Done{};
}

Result<Done> check_new_file(const fs::path& file, bool overwrite, const fs::path& made) {
  INFERMETER_TRY_DONE(check_output_file(file, overwrite));
  if (!made.empty() && is_same(folder_of(file), made)) return Done{};
  if (access((folder_of(file) / "").c_str(), W_OK | X_OK) == 0) return Done{};
  return io_error(
      fmt::format("{} cannot be written: its folder takes no file: {}", file.string(), std::strerror(errno)));
}

Result<Done> check_folder_to_be(std::string_view flag, const fs::path& folder) {
  std::error_code error;
  fs::path there = fs::absolute(folder, error).lexically_normal();
  while (there.has_relative_path() && !fs::exists(fs::symlink_status(there, error))) there = there.parent_path();
  const auto cannot = [&](std::string_view why) {
    return io_error(fmt::format("{}: {} cannot hold the results: {} {}", flag, printable(folder.string(), 200),
                                printable(there.string(), 200), why));
  };
  if (!fs::is_directory(there, error)) return cannot("is not a folder");
  if (access(there.c_str(), W_OK | X_OK) == 0) return Done{};
  return cannot(fmt::format("takes no files: {}", std::strerror(errno)));
}

Result<Done> write_file(const fs::path& file, std::string_view text, bool overwrite) {
  INFERMETER_TRY_DONE(check_output_file(file, overwrite));
  return write_new_file(file, std::as_bytes(std::span(text)), overwrite);
}

Result<std::string> read_text_file(const fs::path& file, std::size_t limit, std::string_view what) {
  const auto cannot = [&](std::string_view why) {
    return io_error(fmt::format("{} {} cannot be read: {}", what, file.string(), why));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "re"), &std::fclose);
  if (!stream) return cannot(std::strerror(errno));
  // Piece by piece: a pipe has no size, and few files come near their limit.
  std::string text;
  std::array<char, 65536> piece;
  for (std::size_t got = 1; got > 0 && text.size() <= limit; text.append(piece.data(), got))
    got = std::fread(piece.data(), 1, piece.size(), stream.get());
  if (std::ferror(stream.get()) != 0) return cannot(std::strerror(errno));
  if (text.size() > limit) return cannot(fmt::format("it is larger than {} bytes", limit));
  return text;
}

Result<Done> make_folder(std::string_view flag, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) return Done{};
  return io_error(fmt::format("{}: {} cannot be made: {}", flag, printable(folder.string(), 200),
                              error ? error.message() : "it is not a folder"));
}

}  // namespace infermeter
