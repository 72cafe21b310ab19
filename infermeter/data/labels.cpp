#include "infermeter/data/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/data/distribution.hpp"
#include "infermeter/data/images/image_data.hpp"
#include "infermeter/data/port_fit.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 30;

// Where a set's rows are among those of its source.
struct Rows {
  std::int64_t per_item = 1, first = 0, count = 0;
  std::int64_t available = 0;  // rows of all whole items that the source has
  bool limited = false;
};

// `set` has the first of so many `items`, or all of them.
Rows rows_of(const DataSet& set, std::int64_t items, const DataOptions& options) {
  Rows rows;
  rows.per_item = std::max<std::int64_t>(set.rows_per_item, 1);
  rows.first = options.first * rows.per_item;
  rows.count = items * rows.per_item;
  rows.available = std::max(set.available, options.first + items) * rows.per_item;
  rows.limited = options.limit > 0;
  return rows;
}

Rows rows_of(const DataSet& set, const DataOptions& options) {
  return rows_of(set, static_cast<std::int64_t>(set.items.size()), options);
}

Result<Done> check_label_count(std::int64_t have, const Rows& rows, const DataOptions& options) {
  if (have >= rows.available && have < rows.available + rows.per_item) return Done{};
  if (rows.limited && have == rows.first + rows.count) return Done{};
  return usage_error(fmt::format("{} has {} labels, the data {} have {} rows; give one for each with --labels",
                                 in_quotes(options.labels), have, in_quotes(options.source), rows.available));
}

// One label per row of the set, in order, into its items.
void give(DataSet& set, const Rows& rows, const std::vector<int>& labels) {
  auto next = labels.begin();
  for (DataItem& item : set.items) {
    item.labels.assign(next, next + static_cast<std::ptrdiff_t>(rows.per_item));
    next += static_cast<std::ptrdiff_t>(rows.per_item);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r";
  const auto begin = text.find_first_not_of(space);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

struct Line {
  std::size_t number = 0;
  std::string_view name;  // empty: there is none
  bool has_name = false;
  int label = 0;
};

Result<int> index_in(std::string_view text, const std::string& file, std::size_t line) {
  int label = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (error != std::errc() || end != text.data() + text.size() || label < -1) {
    return usage_error(fmt::format("{} line {}: {} is not a class index (0, 1, …, or -1 for \"not known\")",
                                   in_quotes(file), line, in_quotes(text)));
  }
  return label;
}

Result<std::vector<Line>> lines_in(std::string_view text, const std::string& file) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view content = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.empty() || content.starts_with('#')) continue;
    const auto comma = content.rfind(',');
    Line line{.number = number, .name = {}, .has_name = comma != std::string_view::npos};
    if (line.has_name) line.name = trimmed(content.substr(0, comma));
    INFERMETER_TRY(line.label, index_in(trimmed(line.has_name ? content.substr(comma + 1) : content), file, number));
    if (!lines.empty() && line.has_name != lines.front().has_name) {
      return usage_error(fmt::format("{} line {}: either every line is NAME,INDEX or every line is an index",
                                     in_quotes(file), number));
    }
    lines.push_back(line);
  }
  if (lines.empty()) return usage_error(fmt::format("{} has no labels", in_quotes(file)));
  return lines;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

using ByName = std::unordered_map<std::string_view, const Line*>;

Result<ByName> by_name(const std::vector<Line>& lines, const std::string& file) {
  ByName found;
  for (const Line& line : lines) {
    const auto [place, is_new] = found.emplace(line.name, &line);
    if (!is_new && place->second->label != line.label) {
      return usage_error(fmt::format("{} line {}: {} has another label on line {}", in_quotes(file), line.number,
                                     in_quotes(line.name), place->second->number));
    }
  }
  return found;
}

// By its path in the folder; by its name alone, where no other picture is called the same.
Result<int> label_of(const ImageFile& picture, const ByName& labels,
                     const std::unordered_map<std::string, int>& pictures_called, const DataOptions& options) {
  const std::string path = std::filesystem::path(picture.path).lexically_relative(options.source).string();
  if (const auto found = labels.find(path); found != labels.end()) return found->second->label;
  const std::string name = file_name(picture.path);
  const auto found = labels.find(name);
  if (found == labels.end()) {
    return usage_error(fmt::format("{} has no label for the image {}", in_quotes(options.labels), in_quotes(path)));
  }
  if (pictures_called.at(name) > 1) {
    return usage_error(fmt::format("{} line {}: several images are called {}; give their paths in {}",
                                   in_quotes(options.labels), found->second->number, in_quotes(name),
                                   in_quotes(options.source)));
  }
  return found->second->label;
}

Result<std::vector<int>> labels_by_name(const Rows& rows, const std::vector<Line>& lines, const DataOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_directory(options.source, error)) {
    return usage_error(fmt::format("{} labels images by name, and {} is not a folder of images; give an index per line",
                                   in_quotes(options.labels), in_quotes(options.source)));
  }
  INFERMETER_TRY(const ByName labels, by_name(lines, options.labels));
  INFERMETER_TRY(const ImageFolder folder, list_images(options.source));
  if (static_cast<std::size_t>(rows.first + rows.count) > folder.files.size()) {
    return io_error(fmt::format("{} changed while it was read", in_quotes(options.source)));
  }
  std::unordered_map<std::string, int> pictures_called;
  for (const ImageFile& picture : folder.files) ++pictures_called[file_name(picture.path)];
  std::vector<int> wanted;
  for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row) {
    const ImageFile& picture = folder.files[static_cast<std::size_t>(row)];
    INFERMETER_TRY(const int label, label_of(picture, labels, pictures_called, options));
    wanted.push_back(label);
  }
  return wanted;
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One for each row.
Result<std::vector<int>> labels_in_text(const Rows& rows, const DataOptions& options) {
  INFERMETER_TRY(const auto bytes, read_file(options.labels, most_text_bytes));
  INFERMETER_TRY(const auto lines, lines_in(text_of(bytes), options.labels));
  if (lines.front().has_name) return labels_by_name(rows, lines, options);
  INFERMETER_TRY_DONE(check_label_count(static_cast<std::int64_t>(lines.size()), rows, options));
  std::vector<int> wanted;
  for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row) {
    wanted.push_back(lines[static_cast<std::size_t>(row)].label);
  }
  return wanted;
}

Result<Done> attach_text(DataSet& set, const DataOptions& options) {
  const Rows rows = rows_of(set, options);
  INFERMETER_TRY(const auto wanted, labels_in_text(rows, options));
  give(set, rows, wanted);
  return Done{};
}

Result<Done> attach_indices(DataSet& set, const Rows& rows, const Tensor& array, const DataOptions& options) {
  INFERMETER_TRY(const auto numbers, to_doubles(array));
  std::vector<int> wanted;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < -1 || numbers[i] > std::numeric_limits<int>::max()) {
      return usage_error(fmt::format("{} row {}: {} is not a class index (0, 1, …, or -1 for \"not known\")",
                                     in_quotes(options.labels), rows.first + static_cast<std::int64_t>(i), numbers[i]));
    }
    wanted.push_back(static_cast<int>(numbers[i]));
  }
  give(set, rows, wanted);
  return Done{};
}

void attach_masks(DataSet& set, const Rows& rows, Tensor array) {
  if (array.dtype == DType::boolean) array.dtype = DType::uint8;  // a byte of 0 or 1 as well
  const std::size_t item_bytes = array.data.size() / set.items.size();
  const auto owner = std::make_shared<const Bytes>(array.data);
  for (std::size_t i = 0; i < set.items.size(); ++i) {
    Tensor mask = array;
    mask.shape[0] = rows.per_item;
    mask.data = Bytes::view(array.data.span().subspan(i * item_bytes, item_bytes), owner);
    set.items[i].mask = std::move(mask);
    set.items[i].labels.clear();
  }
}

// Of integers, with a row for each of the data. Whether it holds masks.
Result<bool> check_array(const Rows& rows, const DataOptions& options) {
  INFERMETER_TRY(const NpyHeader header, npy_header(options.labels));
  const Shape& shape = header.shape;
  if (shape.empty()) {
    return usage_error(fmt::format("{} is one number; labels are [N], masks [N, …]", in_quotes(options.labels)));
  }
  INFERMETER_TRY_DONE(check_label_count(shape[0], rows, options));
  INFERMETER_TRY(const Tensor first, read_npy(options.labels, {.rows = 1, .bytes = kMostDataBytes}));
  const bool is_mask = shape.size() > 2 || (shape.size() == 2 && shape[1] != 1);
  if (is_integer(first.dtype) && (is_mask || first.dtype != DType::boolean)) return is_mask;
  return usage_error(fmt::format("{} is {} {}; labels are integers, the indices of classes", in_quotes(options.labels),
                                 to_string(first.dtype), to_string(shape)));
}

Result<Done> attach_array(DataSet& set, const DataOptions& options) {
  const Rows rows = rows_of(set, options);
  INFERMETER_TRY(const bool is_mask, check_array(rows, options));
  INFERMETER_TRY(Tensor array,
                 read_npy(options.labels, {.rows = rows.count, .bytes = kMostDataBytes, .first_row = rows.first}));
  if (array.shape[0] != rows.count)
    return io_error(fmt::format("{} changed while it was read", in_quotes(options.labels)));
  if (!is_mask) return attach_indices(set, rows, array, options);
  attach_masks(set, rows, std::move(array));
  return Done{};
}

Result<std::vector<int>> values_that_follow(const DataItem& item) {
  const Value* const input = item.inputs.size() == 1 ? &item.inputs.front() : nullptr;
  if (input == nullptr || input->kind != Value::Kind::tensor || !is_integer(input->tensor.dtype)) {
    return usage_error(
        "labels=next uses the next value of the input as label: the model must have one input, of integers "
        "(tokens); give a file of labels");
  }
  INFERMETER_TRY(const auto values, to_doubles(input->tensor));
  // Each row is a text of its own.
  const Shape& shape = input->tensor.shape;
  const std::size_t length = shape.empty() ? values.size() : static_cast<std::size_t>(shape.back());
  std::vector<int> labels;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (i % length == 0) {
      labels.push_back(-1);
      continue;
    }
    if (values[i] < 0 || values[i] > std::numeric_limits<int>::max()) {
      return usage_error(fmt::format("{}: {} is not a token, so that labels=next has no label of it",
                                     in_quotes(item.name), values[i]));
    }
    labels.push_back(static_cast<int>(values[i]));
  }
  labels.push_back(-1);
  return labels;
}

Result<Done> attach_next(DataSet& set) {
  for (DataItem& item : set.items) {
    INFERMETER_TRY(item.labels, values_that_follow(item));
  }
  return Done{};
}

bool is_array(const std::string& file) { return file.ends_with(".npy"); }

}  // namespace

Result<Done> attach_labels(DataSet& set, const DataOptions& options) {
  if (options.labels.empty()) return Done{};
  if (options.labels == next_labels) return attach_next(set);
  return is_array(options.labels) ? attach_array(set, options) : attach_text(set, options);
}

Result<Done> check_labels(const DataSet& sample, const DataOptions& options) {
  if (options.labels.empty()) return Done{};
  if (options.labels == next_labels) {
    INFERMETER_TRY(const auto labels, values_that_follow(sample.items.front()));
    return Done{};
  }
  const std::int64_t left = sample.available - options.first;
  const Rows rows = rows_of(sample, options.limit > 0 ? std::min(options.limit, left) : left, options);
  if (is_array(options.labels)) {
    INFERMETER_TRY([[maybe_unused]] const bool is_mask, check_array(rows, options));
    return Done{};
  }
  INFERMETER_TRY(const auto labels, labels_in_text(rows, options));
  return Done{};
}

Result<Done> check_labels_file(const std::string& file) {
  if (file == next_labels) return Done{};
  if (is_array(file)) {
    INFERMETER_TRY(const NpyHeader header, npy_header(file));
    return Done{};
  }
  INFERMETER_TRY(const auto bytes, read_file(file, most_text_bytes));
  INFERMETER_TRY(const auto lines, lines_in(text_of(bytes), file));
  return Done{};
}

}  // namespace infermeter
