#include "output_tensor.hpp"

#include <algorithm>
#include <cstring>

#include "http/json_text.hpp"

namespace infermeter {
namespace {

void put_strings(OutputTensor& output, std::string_view bytes, std::size_t count, const std::string& about) {
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes.size() < 4) refuse_answer(about + " ends before its last string");
    std::size_t size = 0;
    for (unsigned at = 0; at < 4; ++at) size |= std::size_t{static_cast<unsigned char>(bytes[at])} << (8 * at);
    bytes.remove_prefix(4);
    if (bytes.size() < size) refuse_answer(about + " ends in the middle of a string");
    output.strings.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  if (!bytes.empty()) refuse_answer(about + " continues behind its last string");
}

void check_size(std::uint64_t has, std::uint64_t wants, std::string_view what, const OutputTensor& output,
                const std::string& about) {
  if (has == wants) return;
  refuse_answer(about + " has " + std::to_string(has) + std::string(what) + ", and its shape " +
                shape_text(output.shape) + " needs " + std::to_string(wants));
}

void take_binary(OutputTensor& output, std::string_view bytes, std::size_t count, const std::string& about) {
  if (output.dtype == IMB_STRING) return put_strings(output, bytes, count, about);
  check_size(bytes.size(), output.size_bytes, " bytes", output, about);
  output.storage.resize((bytes.size() + 7) / 8);
  if (!bytes.empty()) std::memcpy(output.storage.data(), bytes.data(), bytes.size());
}

void take_json(OutputTensor& output, WrittenOutput& written, std::size_t count, const std::string& about) {
  const bool is_text = output.dtype == IMB_STRING;
  if (!(is_text ? written.numbers.empty() : written.strings.empty()))
    refuse_answer(about + " holds values that are not of its datatype");
  check_size(is_text ? written.strings.size() : written.numbers.size(), count, " elements", output, about);
  if (is_text) {
    output.strings = std::move(written.strings);
    return;
  }
  output.storage.resize((output.size_bytes + 7) / 8);
  auto* place = reinterpret_cast<unsigned char*>(output.storage.data());
  const std::size_t size = bits_of(output.dtype) / 8;
  for (const JsonNumber& number : written.numbers) {
    if (!put_element(output.dtype, number, place))
      refuse_answer(about + " holds a number that its datatype cannot hold");
    place += size;
  }
}

}  // namespace

void refuse_answer(const std::string& why) { fail(IMB_BAD_ANSWER, "the server's answer cannot be used: " + why); }

OutputTensor output_tensor(WrittenOutput& written, std::string_view& rest) {
  if (!written.name) refuse_answer("an output has no name");
  OutputTensor output{.name = std::move(*written.name)};
  if (output.name.empty() || output.name.size() > longest_name)
    refuse_answer("an output has a name that cannot be one");
  const std::string about = "output " + shown(output.name, 80);
  if (!written.datatype) refuse_answer(about + " has no datatype");
  const auto dtype = dtype_from_datatype(*written.datatype);
  if (!dtype)
    refuse_answer(about + " has the datatype " + shown(*written.datatype, 40) + ", which the protocol does not have");
  output.dtype = *dtype;
  if (!written.shape) refuse_answer(about + " has no shape");
  output.shape = std::move(*written.shape);
  const auto count = element_count(output.shape);
  const auto bytes = *dtype == IMB_STRING ? std::optional<std::uint64_t>(0) : bytes_of(*dtype, output.shape);
  if (!count || !bytes) refuse_answer(about + " has an impossible shape");
  output.size_bytes = static_cast<std::size_t>(*bytes);
  if (written.binary_size) {
    if (*written.binary_size > rest.size())
      refuse_answer(about + " is said to have " + std::to_string(*written.binary_size) + " bytes, and " +
                    std::to_string(rest.size()) + " came");
    take_binary(output, rest.substr(0, static_cast<std::size_t>(*written.binary_size)),
                static_cast<std::size_t>(*count), about);
    rest.remove_prefix(static_cast<std::size_t>(*written.binary_size));
  } else {
    if (!written.has_data) refuse_answer(about + " has no data");
    take_json(output, written, static_cast<std::size_t>(*count), about);
  }
  return output;
}

std::vector<OutputTensor> as_declared(std::vector<OutputTensor> outputs, std::span<const PortFields> ports) {
  std::vector<OutputTensor> ordered;
  for (const PortFields& port : ports) {
    const auto found = std::ranges::find(outputs, port.name, &OutputTensor::name);
    const std::string about = "output " + shown(port.name, 80);
    if (found == outputs.end()) refuse_answer(about + " is missing");
    if (found->dtype != port.dtype)
      refuse_answer(about + " is " + std::string(name_of(found->dtype)) + ", and the server declares " +
                    std::string(name_of(port.dtype)));
    if (!shape_fits(port, found->shape))
      refuse_answer(about + " has the shape " + shape_text(found->shape) + ", and the server declares " +
                    shape_text(port.shape));
    ordered.push_back(std::move(*found));
    outputs.erase(found);
  }
  return ordered;
}

std::size_t largest_answer(std::span<const PortFields> ports) {
  constexpr std::size_t unknown = std::size_t{256} << 20, besides = std::size_t{1} << 20, of_a_number = 40;
  constexpr std::uint64_t most = std::uint64_t{2} << 30;
  std::uint64_t size = besides;
  for (const PortFields& port : ports) {
    const auto count = element_count(port.shape);  // none: a dimension is dynamic
    if (!count || port.dtype == IMB_STRING) return unknown;
    if (*count > most / of_a_number) return most;
    size = std::min(most, size + *count * of_a_number);
  }
  return ports.empty() ? unknown : static_cast<std::size_t>(size);
}

}  // namespace infermeter
