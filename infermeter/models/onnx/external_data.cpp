#include "infermeter/models/onnx/external_data.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_components = 64;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  void reset(int number) {
    close();
    number_ = number;
  }

 private:
  void close() const {
    if (number_ >= 0) ::close(number_);
  }
  int number_;
};

struct Place {
  std::uint64_t size_bytes = 0;
  std::string why;  // why not; empty: it is all right
};

// "" or what is wrong with the text itself; `parts` are its components.
std::string split_location(const std::string& location, std::vector<std::string>& parts) {
  if (location.empty()) return "which names no file";
  if (location.find('\0') != std::string::npos) return "whose name contains a NUL";
  if (location.front() == '/') return "an absolute path";
  // ONNX Runtime's mark for "the offset is an address in memory": never from a file.
  if (location.find("_ORT_MEM_ADDR_") != std::string::npos) return "an address in memory";
  for (const auto& part : std::filesystem::path(location)) {
    if (part == "..") return "which leaves the model's folder by '..'";
    if (part == "." || part.empty()) continue;
    if (parts.size() == most_components) return "which has too many folders";
    parts.push_back(part.string());
  }
  return parts.empty() ? "which names no file" : "";
}

// Component by component, following no link: what is checked is what lies there, whatever its name says.
Place look_at(const std::string& location, const std::filesystem::path& folder) {
  std::vector<std::string> parts;
  if (auto why = split_location(location, parts); !why.empty()) return {0, std::move(why)};
  Descriptor at(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.number() < 0) return {0, fmt::format("whose folder cannot be opened: {}", std::strerror(errno))};
  struct stat status{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int next = ::openat(at.number(), parts[i].c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) return {0, fmt::format("which cannot be opened: {}", std::strerror(errno))};
    at.reset(next);
    if (::fstat(at.number(), &status) != 0) return {0, fmt::format("which cannot be read: {}", std::strerror(errno))};
    if (S_ISLNK(status.st_mode)) return {0, fmt::format("where {} is a symbolic link", in_quotes(parts[i]))};
    if (i + 1 < parts.size() && !S_ISDIR(status.st_mode)) {
      return {0, fmt::format("where {} is not a folder", in_quotes(parts[i]))};
    }
  }
  if (!S_ISREG(status.st_mode)) return {0, "which is not a regular file"};
  return {static_cast<std::uint64_t>(status.st_size), ""};
}

// offset and length are not negative: the reader of the file refused those.
std::string beyond_end(const OnnxSummary::External& tensor, std::uint64_t size_bytes) {
  const auto offset = static_cast<std::uint64_t>(tensor.offset);
  const auto length = tensor.length < 0 ? 0 : static_cast<std::uint64_t>(tensor.length);
  if (offset <= size_bytes && length <= size_bytes - offset) return "";
  return fmt::format("of {} bytes, of which it needs {} from {} on: beyond its end", size_bytes, length, offset);
}

}  // namespace

Result<std::vector<WeightFile>> check_external_data(const std::vector<OnnxSummary::External>& external,
                                                    const std::filesystem::path& folder) {
  std::vector<WeightFile> files;
  std::map<std::string, Place> seen;
  for (const auto& tensor : external) {
    auto [place, is_new] = seen.try_emplace(tensor.location);
    if (is_new) place->second = look_at(tensor.location, folder);
    std::string why = place->second.why;
    if (why.empty()) why = beyond_end(tensor, place->second.size_bytes);
    if (!why.empty()) {
      return model_error(fmt::format("tensor {} keeps its data in {}, {}; a model's data must lie in its own folder",
                                     in_quotes(tensor.tensor), in_quotes(tensor.location), why));
    }
    if (is_new) files.push_back({(folder / tensor.location).lexically_normal().string(), place->second.size_bytes});
  }
  return files;
}

Result<WeightFile> check_weight_file(const std::string& name, const std::filesystem::path& folder) {
  const Place place = look_at(name, folder);
  if (!place.why.empty()) return model_error(fmt::format("its weights are in {}, {}", in_quotes(name), place.why));
  return WeightFile{(folder / name).lexically_normal().string(), place.size_bytes};
}

}  // namespace infermeter
