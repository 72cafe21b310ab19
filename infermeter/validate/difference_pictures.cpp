#include "infermeter/validate/difference_pictures.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/text/whole_file.hpp"
#include "infermeter/worker/profile/python_tool.hpp"
#include "infermeter/worker/wall/private_folder.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 60;

std::string safe(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, longest_name)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    text += plain ? c : '_';
  }
  return text;
}

std::string name_at(std::span<const std::string> names, std::size_t index) {
  return index < names.size() ? names[index] : fmt::format("output {}", index);
}

// What the Python program gets: which arrays lie where, and which picture is to be made of them.
class Orders {
 public:
  Orders(fs::path folder, std::span<const std::string> items, int slices) : folder_(std::move(folder)), items_(items) {
    json_.begin_object();
    json_.member("slices", slices);
    json_.key("pictures");
    json_.begin_array();
  }

  Result<Done> add(std::size_t index, const std::string& name, const KeptDifferences::Output& output) {
    const std::string stem = fmt::format("{}_{}", index, safe(name));
    for (std::size_t rank = 0; rank < output.worst.size(); ++rank) {
      const KeptItem& item = output.worst[rank];
      begin("difference", fmt::format("{}_worst_{}.png", stem, rank + 1),
            fmt::format("{}, {}", name, name_at(items_, item.item)));
      INFERMETER_TRY_DONE(store("reference", item.reference));
      INFERMETER_TRY_DONE(store("candidate", item.candidate));
      json_.end_object();
    }
    begin("histogram", stem + "_histogram.png", fmt::format("{}, all items", name));
    json_.member("lowest_decade", ErrorHistogram::lowest_decade);
    json_.member("steps", ErrorHistogram::steps);
    json_.member("equal", output.histogram.equal);
    json_.member("non_finite", output.histogram.non_finite);
    json_.key("counts");
    json_.begin_array();
    for (const std::uint64_t count : output.histogram.counts) json_.value(count);
    json_.end_array();
    json_.end_object();
    return Done{};
  }

  [[nodiscard]] std::string take() {
    json_.end_array();
    json_.end_object();
    return json_.take();
  }
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

 private:
  void begin(const char* kind, const std::string& file, const std::string& title) {
    files_.push_back(file);
    json_.begin_object();
    json_.member("kind", kind);
    json_.member("file", (folder_ / file).string());
    json_.member("title", title);
  }

  // As doubles, which NumPy has whatever the output's type is.
  Result<Done> store(const char* side, const Tensor& tensor) {
    INFERMETER_TRY(const std::vector<double> values, to_doubles(tensor));
    const std::string file = folder_ / fmt::format("{}.npy", arrays_++);
    json_.member(side, file);
    return write_npy(file, make_tensor<double>(DType::float64, tensor.shape, values));
  }

  fs::path folder_;
  std::span<const std::string> items_;
  JsonWriter json_;
  std::vector<std::string> files_;
  int arrays_ = 0;
};

}  // namespace

Result<std::vector<Picture>> draw_differences(const Launcher& launcher, const KeptDifferences& kept,
                                              std::span<const std::string> outputs, std::span<const std::string> items,
                                              int slices, const std::atomic<int>* interrupt) {
  std::vector<Picture> pictures;
  if (kept.outputs().empty()) return pictures;
  INFERMETER_TRY(const PrivateFolder folder, PrivateFolder::create());
  Orders orders(folder.path(), items, slices);
  for (const auto& [index, output] : kept.outputs()) {
    INFERMETER_TRY_DONE(orders.add(index, name_at(outputs, index), output));
  }
  const std::string text = orders.take();
  INFERMETER_TRY(const std::string done, run_python_tool(launcher, {.module = "infermeter.difference_pictures",
                                                                    .input = text,
                                                                    .input_name = "orders.json",
                                                                    .output_name = "done",
                                                                    .arguments = {},
                                                                    .interrupt = interrupt}));
  for (const std::string& file : orders.files()) {
    pictures.push_back({.file = file, .bytes = whole_file(folder.path() / file)});
    if (pictures.back().bytes.empty())
      return worker_error("infermeter.difference_pictures ended well and left out " + file);
  }
  return pictures;
}

}  // namespace infermeter
