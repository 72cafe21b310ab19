// DataSet: the inputs of a run, the same bytes for every subject that takes the same inputs.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter/data/images/image.hpp"
#include "infermeter/data/tensor.hpp"

namespace infermeter {

struct DataItem {
  std::string name{};                                     // file name, "synthetic 0", …
  ItemValues inputs{};                                    // in the model's order
  std::vector<std::pair<std::string, Value>> expected{};  // recorded outputs, where the source has them, by name
  std::vector<int> labels{};                              // class index per row, where the source has them
  std::optional<Tensor> mask{};                           // class index per pixel, [batch, …], integers, where given
};

struct DataSet {
  std::vector<DataItem> items{};  // never empty
  std::vector<std::string> class_names{};
  std::int64_t available = 0;      // items that the source has, those that `first` and `limit` leave out included
  std::int64_t rows_per_item = 1;  // the batch's size in an item; 1: no input has a batch axis
  std::uint64_t digest = 0;        // of the inputs of all items; 0: nobody asked for it
};

// More than this is not made, decoded or read at once.
inline constexpr std::uint64_t kMostDataBytes = std::uint64_t{4} << 30U;

// Instead of a file of labels: each row of scores predicts the next value of the input, as a language model does.
inline constexpr std::string_view next_labels = "next";

struct DataOptions {
  std::string source = "synthetic";  // or a path: .npy, .npz, folder of images, ONNX test_data_set folder
  std::vector<std::pair<std::string, std::string>> distributions{};  // per input name ("": all): "uniform:0:1", …
  std::int64_t batch_size = 1;                                       // what a dynamic batch axis becomes
  std::int64_t first = 0;  // leave out so many items at the source's beginning: large data are gone through in parts
  std::int64_t limit = 0;  // at most so many items; 0: the source's own number (synthetic: 1)
  std::uint64_t seed = 1;
  std::uint64_t most_bytes = kMostDataBytes;  // larger data are refused; at most kMostDataBytes
  // Instead of the source's items: its first one, and that with noise (data/perturb.hpp), so many in all; 0: the
  // source's items. `noise`: standard deviation, as a share of the range of valid values.
  std::int64_t perturb = 0;
  double noise = 0.01;
  // What is right: a text file with a class index per line (or NAME,INDEX with the names of pictures), an integer .npy
  // [N] of such, or [N, …] of masks. Empty: the source's own labels, if it has any.
  // `next_labels`: of tokens, the one that follows.
  std::string labels{};
  const std::atomic<int>* interrupt = nullptr;  // above 0: no further picture is decoded
  OpenPictures open_pictures{};                 // who decodes them; empty: this process does
};

}  // namespace infermeter
