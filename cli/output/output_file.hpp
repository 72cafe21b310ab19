// Files that we write for the user: whole or not at all, and never over another one unasked.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Where the file is or will be.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& file);

// Says now what `write_file` would refuse later: the file exists and `overwrite` is not set, it is no regular file, or
// it is a database, which no report is to replace.
[[nodiscard]] Result<Done> check_output_file(const std::filesystem::path& file, bool overwrite);
// The same, and that its folder takes no files: for what is written after hours of measuring. `made`: a folder that
// will be there by then.
[[nodiscard]] Result<Done> check_new_file(const std::filesystem::path& file, bool overwrite,
                                          const std::filesystem::path& made = {});
// A file that a flag names; empty: it names none.
struct NamedFile {
  std::string_view flag;
  std::filesystem::path file;
};
// Refuses two flags that name one file, of which only one would be left.
[[nodiscard]] Result<Done> check_distinct(std::span<const NamedFile> files);
// Whether the folder that `flag` names takes files, or could be made and then would. Makes nothing.
[[nodiscard]] Result<Done> check_folder_to_be(std::string_view flag, const std::filesystem::path& folder);

// Temporary file in the same folder, fsync, rename. On any failure the error names the file, and what was there stays.
[[nodiscard]] Result<Done> write_file(const std::filesystem::path& file, std::string_view text, bool overwrite);

// Makes the folder that `flag` names, and those above it, where they are not there.
[[nodiscard]] Result<Done> make_folder(std::string_view flag, const std::filesystem::path& folder);

// At most `limit` bytes; `what` names it in messages: "plan file".
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& file, std::size_t limit,
                                                 std::string_view what);

}  // namespace infermeter
