#include "infermeter/data/arrays/array_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "infermeter/data/arrays/npz.hpp"
#include "infermeter/data/port_fit.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// One input's array, item by item: the values of an item lie together.
struct Items {
  Tensor all;
  Shape shape;                 // of an item
  std::int64_t available = 1;  // that the file has
};

// How an array is cut into items.
struct Cut {
  enum class Kind { one, rows, stacked, across };  // across: at a dimension behind the first
  Kind kind = Kind::one;
  std::int64_t axis = 0;      // that is cut
  std::int64_t per_item = 1;  // of its size in an item
  std::int64_t available = 1;
};

Error array_misfit(const Port& port, const Shape& whole, DType dtype, const std::string& file) {
  std::string hint;
  if (port.dtype != dtype) {
    hint = "; convert it with numpy's astype";
  } else if (port.kind == Value::Kind::tensor && port.rank_known && !port.batch_axis && !port.shape.empty() &&
             whole.size() == port.shape.size()) {
    hint = fmt::format(
        "; the input has no batch axis: give one array of that shape, or several behind each other with one more "
        "dimension in front, or name the dimension that is the batch: --batch-axis {}=0",
        port.name);
  } else if (port.batch_axis) {
    hint = fmt::format("; dimension {} is the batch, of any size: --batch-axis says otherwise", *port.batch_axis);
  }
  return usage_error(fmt::format("input {} needs {}, {} has {} {}{}", in_quotes(port.name), describe(port),
                                 in_quotes(file), to_string(dtype), to_string(whole), hint));
}

bool accepts_all_but(const Port& port, std::int64_t axis, const Shape& shape) {
  if (!port.rank_known) return axis < static_cast<std::int64_t>(shape.size());
  Port any_size = port;
  any_size.shape[static_cast<std::size_t>(axis)] = -1;
  return accepts_shape(any_size, shape);
}

// `whole`: the shape in the file.
Result<Cut> cut_of(const Port& port, const Shape& whole, DType dtype, const std::string& file,
                   const DataOptions& options) {
  if (port.kind != Value::Kind::tensor) {
    return usage_error(fmt::format("input {} is {}; give --data with an ONNX test_data_set folder",
                                   in_quotes(port.name), describe(port)));
  }
  if (dtype != port.dtype) return array_misfit(port, whole, dtype, file);
  if (!port.batch_axis) {
    if (accepts_shape(port, whole)) return Cut{};
    const bool is_stacked = whole.size() == port.shape.size() + 1 && accepts_shape(port, std::span(whole).subspan(1));
    if (!is_stacked) return array_misfit(port, whole, dtype, file);
    if (whole[0] == 0) return usage_error(fmt::format("{} contains no item", in_quotes(file)));
    return Cut{.kind = Cut::Kind::stacked, .axis = 0, .per_item = 1, .available = whole[0]};
  }
  const std::int64_t axis = *port.batch_axis;
  if (!accepts_all_but(port, axis, whole)) return array_misfit(port, whole, dtype, file);
  const auto place = static_cast<std::size_t>(axis);
  const std::int64_t own = place < port.shape.size() ? port.shape[place] : -1;
  Cut cut{.kind = axis == 0 ? Cut::Kind::rows : Cut::Kind::across,
          .axis = axis,
          .per_item = own < 0 ? options.batch_size : own};
  cut.available = cut.per_item > 0 ? whole[place] / cut.per_item : 0;
  if (cut.available == 0) {
    return usage_error(fmt::format("input {} needs {} {} at a time, {} has {} {}; use a smaller batch size",
                                   in_quotes(port.name), cut.per_item,
                                   axis == 0 ? "rows" : fmt::format("of dimension {}", axis), in_quotes(file),
                                   to_string(dtype), to_string(whole)));
  }
  return cut;
}

// What is to be read of the file. An array of one item goes beside others that have more: it is read however many are
// left out.
NpyLimits limits_for(const Cut& cut, const DataOptions& options) {
  NpyLimits limits{.rows = 0, .bytes = options.most_bytes};
  const bool by_rows = cut.kind == Cut::Kind::rows || cut.kind == Cut::Kind::stacked;
  if (!by_rows || cut.available <= 1) return limits;
  if (__builtin_mul_overflow(options.limit, cut.per_item, &limits.rows)) limits.rows = 0;
  if (__builtin_mul_overflow(options.first, cut.per_item, &limits.first_row)) limits.first_row = 0;
  return limits;
}

// The items lie across the array: put behind each other, those that are wanted.
Tensor put_in_a_row(const Tensor& array, const Cut& cut, const DataOptions& options) {
  const auto axis = static_cast<std::size_t>(cut.axis);
  const std::span shape(array.shape);
  const std::size_t before = element_count(shape.first(axis)).value_or(0);
  const std::size_t behind = element_count(shape.subspan(axis + 1)).value_or(0);
  const std::size_t run = static_cast<std::size_t>(cut.per_item) * behind;  // that lie together in the array
  const std::size_t stride = static_cast<std::size_t>(shape[axis]) * behind;
  const bool is_one = cut.available == 1;
  const auto first = is_one ? 0 : std::clamp<std::int64_t>(options.first, 0, cut.available);
  auto count = cut.available - first;
  if (!is_one && options.limit > 0) count = std::min(count, options.limit);
  Tensor out{array.dtype, array.shape, {}, {}};
  out.shape.insert(out.shape.begin(), count);
  out.shape[axis + 1] = cut.per_item;
  const bool is_text = array.dtype == DType::string;
  const std::size_t run_bytes = is_text ? 0 : bytes_of(array.dtype, run);
  std::byte* to = nullptr;
  if (!is_text) out.data = Bytes::allocate(run_bytes * before * static_cast<std::size_t>(count), &to);
  for (std::int64_t item = first; item < first + count; ++item) {
    for (std::size_t i = 0; i < before; ++i) {
      const std::size_t from = i * stride + static_cast<std::size_t>(item) * run;
      if (is_text) {
        const auto begin = array.strings.begin() + static_cast<std::ptrdiff_t>(from);
        out.strings.insert(out.strings.end(), begin, begin + static_cast<std::ptrdiff_t>(run));
      } else {
        std::memcpy(to, array.data.data() + bytes_of(array.dtype, from), run_bytes);
        to += run_bytes;
      }
    }
  }
  return out;
}

// What the limits left of an array with this cut, or the file is another one by now.
bool has_all_rows(const Tensor& array, const Shape& whole, const Cut& cut, const DataOptions& options) {
  using enum Cut::Kind;
  Shape expected = whole;
  if ((cut.kind == rows || cut.kind == stacked) && cut.available > 1) {
    const NpyLimits limits = limits_for(cut, options);
    expected[0] -= std::clamp<std::int64_t>(limits.first_row, 0, expected[0]);
    if (limits.rows > 0) expected[0] = std::min(expected[0], limits.rows);
  }
  return array.shape == expected;
}

Result<Items> items_from(Tensor array, const Shape& whole, const Cut& cut, const std::string& file,
                         const DataOptions& options) {
  using enum Cut::Kind;
  if (!has_all_rows(array, whole, cut, options)) {
    return io_error(fmt::format("{} changed while it was read", in_quotes(file)));
  }
  Items items{.all = {}, .shape = array.shape, .available = cut.available};
  if (cut.kind == stacked) items.shape.erase(items.shape.begin());
  if (cut.kind == rows || cut.kind == across) items.shape[static_cast<std::size_t>(cut.axis)] = cut.per_item;
  items.all = cut.kind == across ? put_in_a_row(array, cut, options) : std::move(array);
  return items;
}

Value item_of(const Items& items, std::int64_t index) {
  const std::int64_t item = items.available == 1 ? 0 : index;
  Value out;
  out.tensor = Tensor{items.all.dtype, items.shape, {}, {}};
  const auto elements = element_count(items.shape).value_or(0);
  const auto first = static_cast<std::size_t>(item) * elements;
  if (out.tensor.dtype == DType::string) {
    const auto begin = items.all.strings.begin() + static_cast<std::ptrdiff_t>(first);
    out.tensor.strings.assign(begin, begin + static_cast<std::ptrdiff_t>(elements));
    return out;
  }
  const std::size_t size = bytes_of(out.tensor.dtype, elements);
  const auto owner = std::make_shared<const Bytes>(items.all.data);
  out.tensor.data = Bytes::view(items.all.data.span().subspan(bytes_of(out.tensor.dtype, first), size), owner);
  return out;
}

std::string listed(std::span<const std::string> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) out += (i == 0 ? "" : ", ") + in_quotes(names[i]);
  return names.size() > 8 ? out + " …" : out;
}

// Which array goes into which input: by name; or arr_0, arr_1 … in order, as numpy.savez names what was given no name;
// or the only one into the only one.
Result<std::vector<std::string>> array_names(const NpzFile& file, const std::string& path,
                                             std::span<const Port> ports) {
  const std::vector<std::string>& names = file.names();
  const auto has = [&names](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> by_name;
  std::vector<std::string> by_order;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    by_name.push_back(ports[i].name);
    by_order.push_back(fmt::format("arr_{}", i));
  }
  if (std::all_of(by_name.begin(), by_name.end(), has)) return by_name;
  if (std::all_of(by_order.begin(), by_order.end(), has)) return by_order;
  if (ports.size() == 1 && names.size() == 1) return names;
  const auto missing = std::find_if_not(by_name.begin(), by_name.end(), has);
  return usage_error(
      fmt::format("input {} is not in {}, whose arrays are {}; name them as the inputs, or arr_0, arr_1 …",
                  in_quotes(*missing), in_quotes(path), listed(names)));
}

Result<std::vector<Items>> items_from_npz(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY(const NpzFile file, NpzFile::open(options.source));
  INFERMETER_TRY(const std::vector<std::string> names, array_names(file, options.source, ports));
  std::vector<Items> out;
  DataOptions left = options;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    INFERMETER_TRY(const NpyHeader header, file.header(names[i]));
    const std::string label = options.source + ":" + names[i];
    INFERMETER_TRY(const Cut cut, cut_of(ports[i], header.shape, header.dtype, label, options));
    INFERMETER_TRY(Tensor array, file.read(names[i], limits_for(cut, left)));
    left.most_bytes -= std::min(left.most_bytes, array.data.size() + array.strings.size() * sizeof(std::string));
    INFERMETER_TRY(Items items, items_from(std::move(array), header.shape, cut, label, options));
    out.push_back(std::move(items));
  }
  return out;
}

Result<std::vector<Items>> items_from_npy(const DataOptions& options, std::span<const Port> ports) {
  if (ports.size() != 1) {
    return usage_error(fmt::format(
        "{} is one array and the model has {} inputs; give an .npz file with one array for each, named as the inputs",
        in_quotes(options.source), ports.size()));
  }
  INFERMETER_TRY(const NpyHeader header, npy_header(options.source));
  INFERMETER_TRY(const Cut cut, cut_of(ports[0], header.shape, header.dtype, options.source, options));
  INFERMETER_TRY(Tensor array, read_npy(options.source, limits_for(cut, options)));
  std::vector<Items> out;
  INFERMETER_TRY(Items items, items_from(std::move(array), header.shape, cut, options.source, options));
  out.push_back(std::move(items));
  return out;
}

Result<std::int64_t> items_in(const std::vector<Items>& inputs, std::span<const Port> ports, const std::string& file) {
  std::int64_t items = 1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int64_t here = inputs[i].available;
    if (items != 1 && here != 1 && here != items) {
      return usage_error(fmt::format("input {} has {} items in {}, the inputs before it have {}",
                                     in_quotes(ports[i].name), here, in_quotes(file), items));
    }
    items = std::max(items, here);
  }
  return items;
}

}  // namespace

Result<DataSet> make_from_arrays(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY(const std::vector<Items> inputs,
                 options.source.ends_with(".npz") ? items_from_npz(options, ports) : items_from_npy(options, ports));
  INFERMETER_TRY(const std::int64_t available, items_in(inputs, ports, options.source));
  INFERMETER_TRY_DONE(check_first(options, available));
  std::int64_t items = available - options.first;
  if (options.limit > 0) items = std::min(items, options.limit);
  if (items > kMostItems) {
    return usage_error(fmt::format("{} has {} items; use at most {} of them with --data-limit",
                                   in_quotes(options.source), items, kMostItems));
  }
  constexpr std::int64_t most_empty = 4096;  // an item takes some hundreds of bytes even so
  const auto is_empty = [](const Items& input) { return element_count(input.shape).value_or(0) == 0; };
  if (items > most_empty && std::all_of(inputs.begin(), inputs.end(), is_empty)) {
    return usage_error(fmt::format("{} has {} items without a number in them; use at most {} of them with --data-limit",
                                   in_quotes(options.source), items, most_empty));
  }
  DataSet set;
  set.available = available;
  for (std::int64_t i = 0; i < items; ++i) {
    DataItem& item = set.items.emplace_back();
    item.name = fmt::format("item {}", options.first + i);
    for (const Items& input : inputs) item.inputs.push_back(item_of(input, i));
  }
  return set;
}

}  // namespace infermeter
