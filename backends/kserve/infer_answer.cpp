#include "infer_answer.hpp"

#include <nlohmann/json.hpp>

#include "datatypes.hpp"
#include "http/json_text.hpp"

namespace infermeter {
namespace {

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
    refuse_answer("it is not JSON at byte " + std::to_string(position));
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
      if (value.kind != JsonNumber::Kind::natural) refuse_answer("a binary_data_size is not a size");
      outputs_.back().binary_size = value.natural;
    }
    return true;
  }

  void add_dimension(const JsonNumber& value) {
    auto& shape = *outputs_.back().shape;
    if (value.kind != JsonNumber::Kind::natural || value.natural > INT64_MAX)
      refuse_answer("a dimension is not a size");
    if (shape.size() == most_dimensions) refuse_answer("an output has too many dimensions");
    shape.push_back(static_cast<std::int64_t>(value.natural));
  }

  std::vector<WrittenOutput> outputs_;
  std::string key_, model_version_;
  Place place_ = Place::outside;
  int depth_ = 0;
  bool has_outputs_ = false;
};

}  // namespace

std::vector<OutputTensor> outputs_from(std::string_view body, std::optional<std::size_t> json_size,
                                       std::string* model_version) {
  if (json_size && *json_size > body.size())
    refuse_answer("its JSON is said to have " + std::to_string(*json_size) + " bytes, and " +
                  std::to_string(body.size()) + " came");
  AnswerReader reader;
  const std::string_view text = body.substr(0, json_size.value_or(body.size()));
  if (!nlohmann::json::sax_parse(text, &reader)) refuse_answer("it is not JSON");
  if (!reader.has_outputs()) refuse_answer("it has no outputs");
  std::string_view rest = body.substr(text.size());
  std::vector<OutputTensor> outputs;
  for (WrittenOutput& written : reader.outputs()) {
    outputs.push_back(output_tensor(written, rest));
    written = {};
  }
  if (model_version != nullptr) *model_version = reader.model_version();
  if (!rest.empty()) refuse_answer(std::to_string(rest.size()) + " bytes are left behind its last output");
  return outputs;
}

}  // namespace infermeter
