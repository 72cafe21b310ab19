#include "infermeter/data/arrays/test_data_set.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "infermeter/data/arrays/tensor_proto.hpp"
#include "infermeter/data/port_fit.hpp"
#include "infermeter/data/regular_file.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestMessage = std::uint64_t{2} << 30;  // protobuf's own limit

std::string numbered(const std::string& folder, std::string_view what, std::size_t index) {
  return (fs::path(folder) / fmt::format("{}_{}.pb", what, index)).string();
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// An optional that holds a sequence is declared as either.
ProtoKind proto_kind(const Port& port) {
  if (port.is_optional) return ProtoKind::optional;
  return port.kind == Value::Kind::sequence ? ProtoKind::sequence : ProtoKind::tensor;
}

Result<Value> read_port_value(const std::string& path, const Port& port) {
  INFERMETER_TRY(const std::vector<std::byte> message, read_file(path, kLargestMessage));
  return parse_value(message, proto_kind(port), path);
}

Result<Value> read_input(const std::string& folder, const Port& port, std::size_t index) {
  const std::string path = numbered(folder, "input", index);
  if (!exists(path)) {
    if (port.is_optional) return Value{.kind = Value::Kind::none, .tensor = {}, .elements = {}};
    return usage_error(
        fmt::format("input {} needs {}, but there is no {}", in_quotes(port.name), describe(port), in_quotes(path)));
  }
  INFERMETER_TRY(Value value, read_port_value(path, port));
  INFERMETER_TRY_DONE(check_value(port, value, path));
  return value;
}

Result<Value> read_output(const std::string& path, std::span<const Port> outputs, std::size_t index) {
  if (index < outputs.size()) return read_port_value(path, outputs[index]);
  INFERMETER_TRY(const std::vector<std::byte> message, read_file(path, kLargestMessage));
  return parse_any_value(message, path);
}

Result<Done> check_file_count(const std::string& folder, std::span<const Port> inputs) {
  const std::string surplus = numbered(folder, "input", inputs.size());
  if (!exists(surplus)) return Done{};
  return usage_error(fmt::format("the model has {} inputs, but there is {}; give the test data of this model",
                                 inputs.size(), in_quotes(surplus)));
}

}  // namespace

bool is_test_data_set(const std::string& folder) {
  return exists(numbered(folder, "input", 0)) || exists(numbered(folder, "output", 0));
}

Result<DataSet> make_from_test_data_set(const DataOptions& options, std::span<const Port> inputs,
                                        std::span<const Port> outputs) {
  INFERMETER_TRY_DONE(check_file_count(options.source, inputs));
  INFERMETER_TRY_DONE(check_first(options, 1));
  DataSet set;
  set.available = 1;
  DataItem& item = set.items.emplace_back();
  item.name = options.source;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFERMETER_TRY(Value value, read_input(options.source, inputs[i], i));
    item.inputs.push_back(std::move(value));
  }
  for (std::size_t i = 0; exists(numbered(options.source, "output", i)); ++i) {
    INFERMETER_TRY(Value value, read_output(numbered(options.source, "output", i), outputs, i));
    item.expected.emplace_back(i < outputs.size() ? outputs[i].name : fmt::format("output_{}", i), std::move(value));
  }
  return set;
}

}  // namespace infermeter
