#include "infermeter/data/arrays/npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <set>

#include "infermeter/data/arrays/npy_header.hpp"
#include "infermeter/data/arrays/npz_archive.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr zip_int64_t kMostMembers = 65536;
constexpr std::uint64_t kSmallEnough = std::uint64_t{64} << 20;
constexpr std::uint64_t kHighestRatio = 1000;
constexpr std::string_view kEnding = ".npy";

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
Error broken_archive(const std::string& path, std::string_view why) {
  return io_error(fmt::format("{} is not a usable .npz file: {}", in_quotes(path), why));
}

class ZipEntry final : public ByteSource {
 public:
  ZipEntry(zip_file_t* entry, std::uint64_t size, std::uint64_t packed_size, std::string label)
      : entry_(entry),
        remaining_(size),
        // Numbers may be packed as densely as deflate can; what grows again in memory may not.
        most_memory_(std::max(size, most_memory_for(packed_size))),
        label_(std::move(label)) {}

  Result<Done> read(std::span<std::byte> out) override {
    while (!out.empty()) {
      const zip_int64_t got = zip_fread(entry_.get(), out.data(), std::min<std::size_t>(out.size(), 1u << 30));
      if (got <= 0)
        return io_error(fmt::format("{} cannot be unpacked: it is damaged or cut short", in_quotes(label_)));
      out = out.subspan(static_cast<std::size_t>(got));
      remaining_ -= std::min(remaining_, static_cast<std::uint64_t>(got));
    }
    return Done{};
  }
  [[nodiscard]] std::uint64_t remaining() const override { return remaining_; }

  [[nodiscard]] std::uint64_t most_memory() const { return most_memory_; }

  // libzip compares the checksum with the archive's when it comes to the member's end.
  Result<Done> finish() {
    std::array<std::byte, 16384> rest;  // mostly there is none
    zip_int64_t got = 0;
    do {
      got = zip_fread(entry_.get(), rest.data(), rest.size());
    } while (got > 0);
    if (got == 0) return Done{};
    const int code = zip_error_code_zip(zip_file_get_error(entry_.get()));
    return io_error(fmt::format(
        "{} is damaged: {}", in_quotes(label_),
        code == ZIP_ER_CRC ? "its CRC-32 is not the one that the archive says" : "it cannot be unpacked to its end"));
  }

 private:
  std::unique_ptr<zip_file_t, CloseEntry> entry_;
  std::uint64_t remaining_, most_memory_;
  std::string label_;
};

bool leads_elsewhere(std::string_view name) {
  return name.starts_with('/') || name.find("..") != std::string_view::npos ||
         name.find('\\') != std::string_view::npos || name.find(':') != std::string_view::npos;
}

Result<std::vector<std::string>> entry_names(zip_t* archive, const std::string& path) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  if (count > kMostMembers) return broken_archive(path, fmt::format("it has {} entries", count));
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (name == nullptr) return broken_archive(path, "an entry has no name");
    if (leads_elsewhere(name)) return broken_archive(path, fmt::format("the name {} leads elsewhere", in_quotes(name)));
    names.emplace_back(name);
  }
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return broken_archive(path, fmt::format("{} is in it twice", in_quotes(name)));
  }
  return names;
}

Result<Archive> open_archive(const std::string& path) {
  // libzip would wait for ever at a pipe.
  INFERMETER_TRY([[maybe_unused]] const RegularFile regular, RegularFile::open(path));
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const Error out = broken_archive(path, zip_error_strerror(&error));
  zip_error_fini(&error);
  return out;
}

Result<Done> check_bomb(const zip_stat_t& status, const std::string& label) {
  const bool too_dense = status.size > kSmallEnough && status.size / kHighestRatio > status.comp_size;
  if (too_dense) {
    return io_error(fmt::format("{} would unpack from {} to {} bytes, which no honest array does", in_quotes(label),
                                status.comp_size, status.size));
  }
  return Done{};
}

}  // namespace

struct NpzFile::State {
  std::string path;
  Archive archive;
  std::vector<std::string> entries;  // with their endings, by index in the archive
  std::vector<std::string> names;
};

NpzFile::NpzFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
NpzFile::NpzFile(NpzFile&&) noexcept = default;
NpzFile& NpzFile::operator=(NpzFile&&) noexcept = default;
NpzFile::~NpzFile() = default;

const std::vector<std::string>& NpzFile::names() const { return state_->names; }

Result<NpzFile> NpzFile::open(const std::string& path) {
  INFERMETER_TRY(Archive archive, open_archive(path));
  INFERMETER_TRY(std::vector<std::string> entries, entry_names(archive.get(), path));
  std::vector<std::string> names;
  for (const std::string& entry : entries) {
    if (entry.ends_with(kEnding)) names.push_back(entry.substr(0, entry.size() - kEnding.size()));
  }
  if (names.empty()) return broken_archive(path, "it contains no .npy file");
  return NpzFile(std::make_unique<State>(State{path, std::move(archive), std::move(entries), std::move(names)}));
}

namespace {

Result<ZipEntry> open_entry(const std::string& path, zip_t* archive, const std::vector<std::string>& entries,
                            const std::string& name) {
  const std::string wanted = name + std::string(kEnding);
  const std::string label = fmt::format("{}:{}", path, name);
  const auto found = std::find(entries.begin(), entries.end(), wanted);
  if (found == entries.end()) return broken_archive(path, fmt::format("it has no array {}", in_quotes(name)));
  const auto index = static_cast<zip_uint64_t>(found - entries.begin());
  zip_stat_t status;
  zip_stat_init(&status);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, index, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded) {
    return broken_archive(label, "its size is not given");
  }
  if ((status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE) {
    return broken_archive(label, "it is encrypted");
  }
  INFERMETER_TRY_DONE(check_bomb(status, label));
  zip_file_t* entry = zip_fopen_index(archive, index, 0);
  if (entry == nullptr) return broken_archive(label, zip_strerror(archive));
  return ZipEntry(entry, status.size, status.comp_size, label);
}

}  // namespace

Result<NpyHeader> NpzFile::header(const std::string& name) const {
  INFERMETER_TRY(ZipEntry source, open_entry(state_->path, state_->archive.get(), state_->entries, name));
  return read_npy_header(source, fmt::format("{}:{}", state_->path, name));
}

Result<Tensor> NpzFile::read(const std::string& name, const NpyLimits& limits) const {
  INFERMETER_TRY(ZipEntry source, open_entry(state_->path, state_->archive.get(), state_->entries, name));
  NpyLimits own = limits;
  own.bytes = std::min(limits.bytes, source.most_memory());
  auto array = read_npy(source, fmt::format("{}:{}", state_->path, name), own);
  if (array.ok()) INFERMETER_TRY_DONE(source.finish());
  return array;
}

}  // namespace infermeter
