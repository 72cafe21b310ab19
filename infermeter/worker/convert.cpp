#include "infermeter/worker/convert.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "infermeter/plan/subject.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

// FNV-1a.
void mix_in(std::uint64_t& hash, const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  for (std::istreambuf_iterator<char> byte(stream), end; byte != end; ++byte)
    hash = (hash ^ static_cast<unsigned char>(*byte)) * 0x100'0000'01b3U;
}

std::uint64_t hash_of(const std::vector<fs::path>& files) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325U;
  for (const fs::path& file : files) mix_in(hash, file);
  return hash;
}

}  // namespace

Result<std::optional<fs::path>> converted_model(const Launcher& launcher, const Conversion& wanted,
                                                const fs::path& cache, const MakingLimits& limits) {
  const fs::path maker = find_maker(launcher, wanted.backend);
  if (maker.empty()) return std::optional<fs::path>();
  const bool is_folder = is_folder_config(wanted.model_file.string());
  const std::string stem = (is_folder ? wanted.model_file.parent_path() : wanted.model_file.stem()).filename().string();
  const fs::path folder = fs::absolute(cache) / "zoo" /
                          fmt::format("{}-{}b{}-{:016x}", stem, is_folder ? wanted.backend + "-" : "",
                                      wanted.batch_size, hash_of(code_of_maker(launcher, maker)));
  const fs::path file = folder / (is_folder ? std::string(kFolderConfig) : fmt::format("{}.{}", stem, wanted.backend));
  std::error_code error;
  if (fs::is_regular_file(file, error)) return std::optional(file);
  const Result<Done> made = make_model(launcher,
                                       {.maker = maker,
                                        .name = wanted.zoo_name,
                                        .model = wanted.model_file,
                                        .options = {{"batch", std::to_string(wanted.batch_size)}},
                                        .file = file},
                                       limits);
  if (made.ok()) return std::optional(file);
  return Error{made.error().kind, fmt::format("{} could not be made into a file for {}: {}", wanted.zoo_name,
                                              wanted.backend, made.error().message)};
}

}  // namespace infermeter
