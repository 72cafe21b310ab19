#include "infer_answer.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "datatypes.hpp"
#include "http/json_text.hpp"

namespace infermeter {
namespace {

// One output as it was written, whatever the order of its keys.
struct WrittenOutput {
  std::optional<std::string> name, datatype;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::uint64_t> binary_size;
  bool has_data = false;
  std::vector<JsonNumber> numbers;
  std::vector<std::string> strings;
};

[[noreturn]] void refuse_answer(const std::string& why) {
  fail(IMB_BAD_ANSWER, "the server's answer cannot be used: " + why);
}

// Takes the outputs out of the text without a tree of it, which would need many times its size.
class AnswerReader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  [[nodiscard]] std::vector<WrittenOutput>& outputs() { return outputs_; }
  [[nodiscard]] bool has_outputs() const { return has_outputs_; }
  [[nodiscard]] const std::string& model_version() const { return model_version_; }

  bool null() { return number({}); }
  bool boolean(bool truth) {
    JsonNumber value{.kind = JsonNumber::Kind::natural, .natural = truth ? 1U : 0U};
    return number(value);
  }
  bool number_integer(number_integer_t whole) {
    JsonNumber value{.kind = JsonNumber::Kind::whole, .whole = whole};
    return number(value);
  }
  bool number_unsigned(number_unsigned_t natural) {
    JsonNumber value{.kind = JsonNumber::Kind::natural, .natural = natural};
    return number(value);
  }
  bool number_float(number_float_t real, const string_t& /*text*/) {
    JsonNumber value{.kind = JsonNumber::Kind::real, .real = real};
    return number(value);
  }
  bool string(string_t& text) {
    if (place_ == Place::data) {
      outputs_.back().strings.push_back(std::move(text));
    } else if (place_ == Place::output && key_ == "name") {
      if (text.empty() || text.size() > longest_name) refuse_answer("an output has a name that cannot be one");
      outputs_.back().name = std::move(text);
    } else if (place_ == Place::output && key_ == "datatype") {
      outputs_.back().datatype = std::move(text);
    } else if (depth_ == 1 && place_ == Place::answer && key_ == "model_version") {
      model_version_ = text.substr(0, longest_name);
    }
    return true;
  }
  bool binary(binary_t& /*bytes*/) { return false; }

  bool start_object(std::size_t /*size*/) {
    enter();
    if (depth_ == 1) return place_ = Place::answer, true;
    if (depth_ == 3 && place_ == Place::outputs) {
      if (outputs_.size() == most_tensors) refuse_answer("it has too many outputs");
      outputs_.emplace_back();
      return place_ = Place::output, true;
    }
    if (depth_ == 4 && place_ == Place::output && key_ == "parameters") place_ = Place::parameters;
    if (place_ == Place::shape || place_ == Place::data) refuse_answer("an object stands among numbers");
    return true;
  }
  bool key(string_t& text) {
    // Only the keys of what is being read count: those of what is passed over stay unseen.
    const bool is_of_place = (depth_ == 1 && place_ == Place::answer) || (depth_ == 3 && place_ == Place::output) ||
                             (depth_ == 4 && place_ == Place::parameters);
    if (is_of_place) key_ = std::move(text);
    return true;
  }
  bool end_object() {
    if (depth_ == 4 && place_ == Place::parameters) place_ = Place::output;
    if (depth_ == 3 && place_ == Place::output) place_ = Place::outputs;
    --depth_;
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    enter();
    if (depth_ == 2 && place_ == Place::answer && key_ == "outputs") {
      if (has_outputs_) refuse_answer("it has outputs twice");
      has_outputs_ = true;
      place_ = Place::outputs;
    } else if (depth_ == 4 && place_ == Place::output && key_ == "shape") {
      outputs_.back().shape.emplace();
      place_ = Place::shape;
    } else if (depth_ == 4 && place_ == Place::output && key_ == "data") {
      if (outputs_.back().has_data) refuse_answer("an output has data twice");
      outputs_.back().has_data = true;
      place_ = Place::data;
    } else if (place_ == Place::shape) {
      refuse_answer("a shape is a list of lists");
    }
    return true;
  }
  bool end_array() {
    if (depth_ == 4 && (place_ == Place::shape || place_ == Place::data)) place_ = Place::output;
    if (depth_ == 2 && place_ == Place::outputs) place_ = Place::answer;
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& /*error*/) {
    refuse_answer("it is no JSON at byte " + std::to_string(position));
  }

 private:
  enum class Place { outside, answer, outputs, output, shape, data, parameters };

  void enter() {
    if (++depth_ > deepest_json) refuse_answer("it is nested too deeply");
  }

  bool number(const JsonNumber& value) {
    if (place_ == Place::data) {
      outputs_.back().numbers.push_back(value);
    } else if (place_ == Place::shape) {
      add_dimension(value);
    } else if (depth_ == 4 && place_ == Place::parameters && key_ == "binary_data_size") {
      if (value.kind != JsonNumber::Kind::natural) refuse_answer("a binary_data_size is no size");
      outputs_.back().binary_size = value.natural;
    }
    return true;
  }

  void add_dimension(const JsonNumber& value) {
    auto& shape = *outputs_.back().shape;
    if (value.kind != JsonNumber::Kind::natural || value.natural > INT64_MAX) refuse_answer("a dimension is no size");
    if (shape.size() == most_dimensions) refuse_answer("an output has too many dimensions");
    shape.push_back(static_cast<std::int64_t>(value.natural));
  }

  std::vector<WrittenOutput> outputs_;
  std::string key_, model_version_;
  Place place_ = Place::outside;
  int depth_ = 0;
  bool has_outputs_ = false;
};

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
  if (!bytes.empty()) refuse_answer(about + " goes on behind its last string");
}

void check_size(std::uint64_t has, std::uint64_t wants, std::string_view what, const OutputTensor& output,
                const std::string& about) {
  if (has == wants) return;
  refuse_answer(about + " has " + std::to_string(has) + std::string(what) + ", and its shape " +
                shape_text(output.shape) + " wants " + std::to_string(wants));
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

OutputTensor output_from(WrittenOutput& written, std::string_view& rest) {
  if (!written.name) refuse_answer("an output has no name");
  OutputTensor output{.name = std::move(*written.name)};
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

}  // namespace

std::vector<OutputTensor> outputs_from(std::string_view body, std::optional<std::size_t> json_size,
                                       std::string* model_version) {
  if (json_size && *json_size > body.size())
    refuse_answer("its JSON is said to have " + std::to_string(*json_size) + " bytes, and " +
                  std::to_string(body.size()) + " came");
  AnswerReader reader;
  const std::string_view text = body.substr(0, json_size.value_or(body.size()));
  if (!nlohmann::json::sax_parse(text, &reader)) refuse_answer("it is no JSON");
  if (!reader.has_outputs()) refuse_answer("it has no outputs");
  std::string_view rest = body.substr(text.size());
  std::vector<OutputTensor> outputs;
  for (WrittenOutput& written : reader.outputs()) {
    outputs.push_back(output_from(written, rest));
    written = {};
  }
  if (model_version != nullptr) *model_version = reader.model_version();
  if (!rest.empty()) refuse_answer(std::to_string(rest.size()) + " bytes are left behind its last output");
  return outputs;
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
