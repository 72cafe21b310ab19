#include "infermeter/models/zoo/zoo.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "infermeter/data/new_file.hpp"
#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/models/sha256.hpp"
#include "infermeter/models/zoo/architectures.hpp"
#include "infermeter/models/zoo/llama.hpp"
#include "infermeter/models/zoo/write_model.hpp"
#include "infermeter/plan/subject.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

struct Entry {
  ZooModel model;
  Graph (*make)();
  const LlamaSizes* llama = nullptr;  // of a language model, which has no graph of ours
};

constexpr LlamaSizes tiny_llama = {.hidden = 512,
                                   .intermediate = 1152,
                                   .layers = 6,
                                   .heads = 8,
                                   .key_value_heads = 2,
                                   .head_size = 64,
                                   .context = 2048};
constexpr LlamaSizes small_llama = {.hidden = 1024,
                                    .intermediate = 2816,
                                    .layers = 11,
                                    .heads = 16,
                                    .key_value_heads = 4,
                                    .head_size = 64,
                                    .context = 4096};

constexpr std::array entries = {
    Entry{{.name = "resnet50",
           .description = "ResNet-50 v1.5: image classification, 1000 classes",
           .input_shape = "batch x 3 x 224 x 224",
           .parameters = 25'557'032,
           .nonzero_parameters = 25'556'785,
           .sha256 = "6e0f432265bd2ec0caa068598c221bfce7439802e93260b67af906bab12450c1",
           .size_bytes = 102'471'428},
          make_resnet50},
    Entry{{.name = "vit_b_16",
           .description = "Vision Transformer B/16: image classification, 1000 classes",
           .input_shape = "batch x 3 x 224 x 224",
           .parameters = 86'567'656,
           .nonzero_parameters = 86'566'787,
           .sha256 = "8dd1e610b74d96ea3441000a55089796f8d942655c1c4c39a13560b70d26af77",
           .size_bytes = 346'367'599},
          make_vit_b_16},
    Entry{{.name = "mobilenet_v3_small",
           .description = "MobileNetV3-Small: image classification for small devices, 1000 classes",
           .input_shape = "batch x 3 x 224 x 224",
           .parameters = 2'542'856,
           .nonzero_parameters = 2'542'826,
           .sha256 = "1afc3c4fb75ae81aa4996a2679a2f35ef8882960176a84aff453bdbce87a4579",
           .size_bytes = 10'252'441},
          make_mobilenet_v3_small},
    Entry{{.name = "unet2d",
           .description = "U-Net of 5 levels: image to image, as in microscopy",
           .input_shape = "batch x 1 x 256 x 256",
           .parameters = 1'942'289,
           .nonzero_parameters = 1'942'272,
           .sha256 = "dfc76c803988cbfd5f7d5a9e5c5b45b852ed0a1ce2b3955dab16e01ad5afa252",
           .size_bytes = 7'792'626},
          make_unet2d},
    Entry{{.name = "unet3d",
           .description = "U-Net of 4 levels in three dimensions: volume to volume, as in microscopy",
           .input_shape = "batch x 1 x 32 x 64 x 64",
           .parameters = 350'809,
           .nonzero_parameters = 350'805,
           .sha256 = "3d943e437a2d98a67486f5ab6829838769196af6d1057a7f22f6a1d99c7d3021",
           .size_bytes = 1'415'237},
          make_unet3d},
    Entry{{.name = "mlp",
           .description = "three small linear layers, for trying things out",
           .input_shape = "batch x 16",
           .parameters = 3'498,
           .nonzero_parameters = 3'498,
           .sha256 = "5b7ef15828d326d8391045b890443692f0659b08ae8bbfb25ac09ef632f033cb",
           .size_bytes = 14'454},
          make_mlp},
    Entry{{.name = "tiny_llama",
           .description = "language model of Llama's architecture; its tokens are bytes",
           .input_shape = "up to 2048 tokens",
           .parameters = 14'819'840,
           .nonzero_parameters = 14'819'678,
           .sha256 = "7a29c58ad4bb3cec10ed2eff8670b7ac0fe03b0fc9723b6d49e883036e8a388a",
           .size_bytes = 59'290'474,
           .format = kFolderFormat},
          nullptr,
          &tiny_llama},
    Entry{{.name = "small_llama",
           .description = "the same, larger",
           .input_shape = "up to 4096 tokens",
           .parameters = 124'546'048,
           .nonzero_parameters = 124'544'778,
           .sha256 = "d925ddbd8d27a4e5289d78d764fc0a3adc92c76310a137deeab31c5932bf6ec1",
           .size_bytes = 498'200'517,
           .format = kFolderFormat},
          nullptr,
          &small_llama},
};

constexpr auto models = [] {
  std::array<ZooModel, entries.size()> result{};
  for (std::size_t i = 0; i < entries.size(); ++i) result[i] = entries[i].model;
  return result;
}();

const Entry* find(std::string_view name) {
  for (const auto& entry : entries) {
    if (entry.model.name == name) return &entry;
  }
  return nullptr;
}

Error not_in_zoo(std::string_view name) {
  return usage_error(fmt::format("'{}' is not in the zoo (`infermeter models` lists what is)", name));
}

Error came_out_otherwise(const ZooModel& model, const std::string& sha256) {
  return internal_error(
      fmt::format("the zoo's {} came out with SHA-256 {} instead of {}: this build of infermeter computes its "
                  "weights differently",
                  model.name, sha256, model.sha256));
}

Result<Done> build_folder(const Entry& entry, const fs::path& folder, const std::atomic<int>* interrupt) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error(fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
  INFERMETER_TRY_DONE(write_llama(entry.model.name, *entry.llama, folder, interrupt));
  std::string digests;
  for (const std::string_view name : llama_files()) {
    INFERMETER_TRY(const std::string digest, sha256_of_file(folder / name, interrupt));
    digests += digest;
  }
  const std::string sha256 = sha256_of_text(digests);
  if (sha256 == entry.model.sha256) return Done{};
  fs::remove(folder / kFolderConfig, error);  // it is no model without
  return came_out_otherwise(entry.model, sha256);
}

Result<Done> build(const Entry& entry, const fs::path& file, const std::atomic<int>* interrupt) {
  if (entry.llama != nullptr) return build_folder(entry, file, interrupt);
  const auto go_on = [&]() -> Result<Done> {
    if (look_at_interrupts(interrupt) == 0) return Done{};
    return worker_error(fmt::format("interrupted: '{}' is not written", file.string()));
  };
  const auto check = [&](const fs::path& written) -> Result<Done> {
    INFERMETER_TRY_DONE(go_on());
    INFERMETER_TRY(const auto sha256, sha256_of_file(written));
    if (sha256 == entry.model.sha256) return go_on();
    return came_out_otherwise(entry.model, sha256);
  };
  const auto made = entry.make();
  INFERMETER_TRY_DONE(go_on());
  return write_model(made.model(), file, check);
}

// `file` as cached_zoo_model returns it.
bool is_whole_file(const Entry& entry, const fs::path& file) {
  std::error_code error;
  if (entry.llama != nullptr) {
    std::uint64_t size_bytes = 0;
    for (const std::string_view name : llama_files()) {
      const auto size = fs::file_size(file.parent_path() / name, error);
      if (error) return false;
      size_bytes += size;
    }
    return size_bytes == entry.model.size_bytes;
  }
  return fs::is_regular_file(file, error) && fs::file_size(file, error) == entry.model.size_bytes && !error;
}

// Held while a model is built, so that several processes that want it build it once. A lock of a record, which workers
// cannot take: flock(2) needs no more than the right to read, and they may read the cache.
class Lock {
 public:
  explicit Lock(const fs::path& file)
      : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
    int done = descriptor_ < 0 ? -1 : 0;
    if (descriptor_ >= 0) {
      struct flock whole{};
      whole.l_type = F_WRLCK;
      whole.l_whence = SEEK_SET;
      do {
        done = ::fcntl(descriptor_, F_OFD_SETLKW, &whole);
      } while (done != 0 && errno == EINTR);
    }
    if (done != 0) error_ = errno;
  }
  ~Lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  [[nodiscard]] int error() const { return error_; }

 private:
  int descriptor_;
  int error_ = 0;
};

}  // namespace

std::span<const ZooModel> zoo() { return models; }

Result<Done> build_zoo_model(std::string_view name, const fs::path& file, const std::atomic<int>* interrupt) {
  const Entry* entry = find(name);
  if (entry == nullptr) return not_in_zoo(name);
  return build(*entry, file, interrupt);
}

Result<fs::path> cached_zoo_model(std::string_view name, const fs::path& cache) {
  const Entry* entry = find(name);
  if (entry == nullptr) return not_in_zoo(name);
  const fs::path folder = fs::absolute(cache) / "zoo";
  const fs::path place =
      folder / fmt::format("{}-{}{}", name, entry->model.sha256.substr(0, 12), entry->llama == nullptr ? ".onnx" : "");
  const fs::path file = entry->llama == nullptr ? place : place / kFolderConfig;
  if (is_whole_file(*entry, file)) return file;
  std::error_code error;
  fs::create_directories(folder, error);
  const Lock lock(folder / ".lock");
  if (lock.error() != 0) {
    return io_error(fmt::format("cannot write to the cache folder '{}': {}; name another one with INFERMETER_CACHE",
                                folder.string(), std::strerror(lock.error())));
  }
  if (is_whole_file(*entry, file)) return file;
  remove_leftovers(file);
  INFERMETER_TRY_DONE(build(*entry, place, nullptr));
  return file;
}

}  // namespace infermeter
