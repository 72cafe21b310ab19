#include "infermeter/data/array_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "infermeter/data/npz.hpp"
#include "infermeter/data/port_fit.hpp"
#include "infermeter/data/quoted.hpp"

namespace infermeter {
namespace {

// One input's array, cut into items.
struct Batches {
  Tensor all;
  std::int64_t rows_per_item = 0;  // 0: the array has no first dimension and is one item
  std::int64_t items = 1;          // that were read
  std::int64_t available = 1;      // that the file has
};

std::int64_t rows_per_item(const Port& port, std::int64_t batch_size) {
  if (!port.rank_known) return batch_size;
  if (port.shape.empty()) return 0;
  return port.shape[0] < 0 ? batch_size : port.shape[0];
}

Error array_misfit(const Port& port, const Tensor& array, const std::string& file) {
  std::string_view hint;
  if (port.dtype != array.dtype) hint = "; convert it with numpy's astype";
  return usage_error(fmt::format("input {} wants {}, {} has {}{}", in_quotes(port.name), describe(port),
                                 in_quotes(file), describe(array), hint));
}

bool accepts_all_but_rows(const Port& port, const Tensor& array) {
  if (!port.rank_known) return true;
  Port any_rows = port;
  if (!any_rows.shape.empty()) any_rows.shape[0] = -1;
  return accepts_shape(any_rows, array.shape);
}

// `whole`: the shape in the file, of which `array` has the rows that were asked for.
Result<Batches> cut(const Port& port, Tensor array, const Shape& whole, const std::string& file,
                    const DataOptions& options) {
  if (port.kind != Value::Kind::tensor) {
    return usage_error(fmt::format("input {} is {}; give --data with an ONNX test_data_set folder",
                                   in_quotes(port.name), describe(port)));
  }
  if (array.dtype != port.dtype || !accepts_all_but_rows(port, array)) return array_misfit(port, array, file);
  Batches out{std::move(array), rows_per_item(port, options.batch_size), 1, 1};
  if (out.rows_per_item == 0 || out.all.shape.empty()) {
    if (!accepts_shape(port, out.all.shape)) return array_misfit(port, out.all, file);
    out.rows_per_item = 0;
    return out;
  }
  out.items = out.all.shape[0] / out.rows_per_item;
  out.available = whole[0] / out.rows_per_item;
  if (out.available == 0) {
    return usage_error(fmt::format("input {} wants {} rows at a time, {} has {}; use a smaller batch size",
                                   in_quotes(port.name), out.rows_per_item, in_quotes(file), describe(out.all)));
  }
  return out;
}

Value item_of(const Batches& batches, std::int64_t index) {
  const std::int64_t item = batches.available == 1 ? 0 : index;
  Value out;
  out.tensor = batches.all;
  if (batches.rows_per_item == 0) return out;
  out.tensor.shape[0] = batches.rows_per_item;
  const auto elements = element_count(out.tensor.shape).value_or(0);
  const auto first = static_cast<std::size_t>(item) * elements;
  if (out.tensor.dtype == DType::string) {
    const auto begin = batches.all.strings.begin() + static_cast<std::ptrdiff_t>(first);
    out.tensor.strings.assign(begin, begin + static_cast<std::ptrdiff_t>(elements));
    return out;
  }
  const std::size_t size = bytes_of(out.tensor.dtype, elements);
  const auto owner = std::make_shared<const Bytes>(batches.all.data);
  out.tensor.data = Bytes::view(batches.all.data.span().subspan(bytes_of(out.tensor.dtype, first), size), owner);
  return out;
}

NpyLimits limits_for(const Port& port, const DataOptions& options) {
  NpyLimits limits{.rows = 0, .bytes = kMostDataBytes};
  const std::int64_t rows = rows_per_item(port, options.batch_size);
  if (__builtin_mul_overflow(options.limit, rows, &limits.rows)) limits.rows = 0;
  if (__builtin_mul_overflow(options.first, rows, &limits.first_row)) limits.first_row = 0;
  return limits;
}

// An array of one item goes beside others that have more: it is read however many are left out.
NpyLimits limits_for(const Port& port, const DataOptions& options, const Shape& whole) {
  NpyLimits limits = limits_for(port, options);
  const std::int64_t rows = rows_per_item(port, options.batch_size);
  if (rows == 0 || whole.empty() || whole[0] / rows <= 1) limits.first_row = limits.rows = 0;
  return limits;
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

Result<std::vector<Batches>> batches_from_npz(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY(const NpzFile file, NpzFile::open(options.source));
  INFERMETER_TRY(const std::vector<std::string> names, array_names(file, options.source, ports));
  std::vector<Batches> out;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    INFERMETER_TRY(const Shape whole, file.shape(names[i]));
    INFERMETER_TRY(Tensor array, file.read(names[i], limits_for(ports[i], options, whole)));
    INFERMETER_TRY(Batches batches, cut(ports[i], std::move(array), whole, options.source + ":" + names[i], options));
    out.push_back(std::move(batches));
  }
  return out;
}

Result<std::vector<Batches>> batches_from_npy(const DataOptions& options, std::span<const Port> ports) {
  if (ports.size() != 1) {
    return usage_error(fmt::format(
        "{} is one array and the model has {} inputs; give an .npz file with one array for each, named as the inputs",
        in_quotes(options.source), ports.size()));
  }
  INFERMETER_TRY(const Shape whole, npy_shape(options.source));
  INFERMETER_TRY(Tensor array, read_npy(options.source, limits_for(ports[0], options, whole)));
  INFERMETER_TRY(Batches batches, cut(ports[0], std::move(array), whole, options.source, options));
  std::vector<Batches> out;
  out.push_back(std::move(batches));
  return out;
}

Result<std::int64_t> items_in(const std::vector<Batches>& inputs, std::span<const Port> ports,
                              const std::string& file) {
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
  INFERMETER_TRY(const std::vector<Batches> inputs, options.source.ends_with(".npz")
                                                        ? batches_from_npz(options, ports)
                                                        : batches_from_npy(options, ports));
  INFERMETER_TRY(const std::int64_t available, items_in(inputs, ports, options.source));
  INFERMETER_TRY_DONE(check_first(options, available));
  std::int64_t items = available - options.first;
  if (options.limit > 0) items = std::min(items, options.limit);
  if (items > kMostItems) {
    return usage_error(fmt::format("{} has {} items; use at most {} of them with --data-limit",
                                   in_quotes(options.source), items, kMostItems));
  }
  DataSet set;
  set.available = available;
  for (std::int64_t i = 0; i < items; ++i) {
    DataItem& item = set.items.emplace_back();
    item.name = fmt::format("item {}", options.first + i);
    for (const Batches& batches : inputs) item.inputs.push_back(item_of(batches, i));
  }
  return set;
}

}  // namespace infermeter
