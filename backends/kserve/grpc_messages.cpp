#include "grpc_messages.hpp"

#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <type_traits>

#include "http/json_text.hpp"

namespace infermeter {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// protozero asserts that a field has the wire type that it is read as; what a server sends has any.
void want(const pbf_reader& reader, pbf_wire_type type) {
  if (!reader.has_wire_type(type)) throw protozero::unknown_pbf_wire_type_exception();
}

std::string_view view_of(pbf_reader& reader) {
  want(reader, pbf_wire_type::length_delimited);
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

pbf_reader message_of(pbf_reader& reader) {
  const std::string_view message = view_of(reader);
  return {message.data(), message.size()};
}

std::string cut_text(pbf_reader& reader) {
  const std::string_view text = view_of(reader);
  return std::string(text.substr(0, utf8_prefix(text, longest_text)));
}

// What `read` makes of the message; protozero throws where it is broken.
template <class Read>
auto parsed(std::string_view message, const char* what, Read read) {
  try {
    return read(pbf_reader(message.data(), message.size()));
  } catch (const protozero::exception&) {
    fail(IMB_BAD_ANSWER, std::string(what) + " is not a message of the protocol");
  }
}

template <class Range, class Take>
void take_all(const Range& range, Take take) {
  for (const auto value : range) take(value);
}

// Fields of numbers may be packed or stand one by one.
template <class Take>
void take_shape(pbf_reader& reader, Take take) {
  if (reader.has_wire_type(pbf_wire_type::length_delimited)) return take_all(reader.get_packed_int64(), take);
  want(reader, pbf_wire_type::varint);
  take(reader.get_int64());
}

// --- metadata ------------------------------------------------------------------------------------------------------

PortFields port_in(pbf_reader tensor, const char* kind) {
  std::string name, datatype;
  std::vector<std::int64_t> shape;
  while (tensor.next()) {
    switch (tensor.tag()) {
      case 1: name = view_of(tensor); break;
      case 2: datatype = cut_text(tensor); break;
      case 3:
        take_shape(tensor, [&](std::int64_t dimension) {
          if (shape.size() <= most_dimensions) shape.push_back(dimension);  // one more is refused
        });
        break;
      default: tensor.skip();
    }
  }
  return declared_port(kind, std::move(name), datatype, std::move(shape));
}

// --- contents of outputs -------------------------------------------------------------------------------------------

template <class Number>
JsonNumber number_from(Number value) {
  if constexpr (std::is_floating_point_v<Number>)
    return {.kind = JsonNumber::Kind::real, .real = value};
  else if constexpr (std::is_signed_v<Number>)
    return {.kind = JsonNumber::Kind::whole, .whole = value};
  else
    return {.kind = JsonNumber::Kind::natural, .natural = value};
}

template <class Packed, class One>
void take_numbers(pbf_reader& reader, WrittenOutput& output, Packed packed, One one,
                  pbf_wire_type type = pbf_wire_type::varint) {
  const auto take = [&](auto value) { output.numbers.push_back(number_from(value)); };
  if (reader.has_wire_type(pbf_wire_type::length_delimited)) return take_all((reader.*packed)(), take);
  want(reader, type);
  take((reader.*one)());
}

// InferTensorContents.
void take_contents(pbf_reader contents, WrittenOutput& output) {
  using Reader = pbf_reader;
  while (contents.next()) {
    switch (contents.tag()) {
      case 1: take_numbers(contents, output, &Reader::get_packed_bool, &Reader::get_bool); break;
      case 2: take_numbers(contents, output, &Reader::get_packed_int32, &Reader::get_int32); break;
      case 3: take_numbers(contents, output, &Reader::get_packed_int64, &Reader::get_int64); break;
      case 4: take_numbers(contents, output, &Reader::get_packed_uint32, &Reader::get_uint32); break;
      case 5: take_numbers(contents, output, &Reader::get_packed_uint64, &Reader::get_uint64); break;
      case 6:
        take_numbers(contents, output, &Reader::get_packed_float, &Reader::get_float, pbf_wire_type::fixed32);
        break;
      case 7:
        take_numbers(contents, output, &Reader::get_packed_double, &Reader::get_double, pbf_wire_type::fixed64);
        break;
      case 8: output.strings.emplace_back(view_of(contents)); break;
      default: contents.skip();
    }
  }
}

WrittenOutput output_in(pbf_reader tensor) {
  WrittenOutput output;
  output.name.emplace();
  output.datatype.emplace();
  output.shape.emplace();
  while (tensor.next()) {
    switch (tensor.tag()) {
      case 1: output.name = view_of(tensor); break;
      case 2: output.datatype = cut_text(tensor); break;
      case 3:
        take_shape(tensor, [&](std::int64_t dimension) {
          if (dimension < 0) refuse_answer("a dimension is not a size");
          if (output.shape->size() == most_dimensions) refuse_answer("an output has too many dimensions");
          output.shape->push_back(dimension);
        });
        break;
      case 5:
        output.has_data = true;
        take_contents(message_of(tensor), output);
        break;
      default: tensor.skip();
    }
  }
  return output;
}

}  // namespace

std::string model_metadata_request(std::string_view model, std::string_view version) {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_string(1, model.data(), model.size());
  if (!version.empty()) writer.add_string(2, version.data(), version.size());
  return message;
}

std::string input_tensor(const PortFields& port, std::span<const std::int64_t> shape) {
  const auto datatype = datatype_of(port.dtype);
  if (!datatype) fail(IMB_INVALID_ARGUMENT, "input '" + port.name + "' has a type that the protocol does not have");
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_string(1, port.name);
  writer.add_string(2, datatype->data(), datatype->size());
  writer.add_packed_int64(3, shape.begin(), shape.end());
  return message;
}

void append_infer_request(std::string& message, std::string_view model, std::string_view version,
                          std::span<const GrpcInput> inputs, std::span<const std::string> outputs) {
  protozero::pbf_writer writer(message);
  writer.add_string(1, model.data(), model.size());
  if (!version.empty()) writer.add_string(2, version.data(), version.size());
  for (const GrpcInput& input : inputs) writer.add_message(5, input.tensor.data(), input.tensor.size());
  for (const std::string& output : outputs) {
    protozero::pbf_writer wanted(writer, 6);
    wanted.add_string(1, output);
  }
  for (const GrpcInput& input : inputs) writer.add_bytes(7, input.contents.data(), input.contents.size());
}

ServerMetadata server_metadata_in(std::string_view message) {
  return parsed(message, "what the server says of itself", [](pbf_reader reader) {
    ServerMetadata metadata{.takes_binary_tensors = true};
    while (reader.next()) {
      switch (reader.tag()) {
        case 1: metadata.name = cut_text(reader); break;
        case 2: metadata.version = cut_text(reader); break;
        default: reader.skip();
      }
    }
    return metadata;
  });
}

ModelMetadata model_metadata_in(std::string_view message) {
  ModelMetadata metadata = parsed(message, "what the server says of the model", [](pbf_reader reader) {
    ModelMetadata found;
    while (reader.next()) {
      switch (reader.tag()) {
        case 2:
          if (found.versions.size() < most_tensors)
            found.versions.push_back(cut_text(reader));
          else
            reader.skip();
          break;
        case 3: found.platform = cut_text(reader); break;
        case 4: found.inputs.push_back(port_in(message_of(reader), "input")); break;
        case 5: found.outputs.push_back(port_in(message_of(reader), "output")); break;
        default: reader.skip();
      }
    }
    return found;
  });
  check_model(metadata);
  return metadata;
}

std::vector<OutputTensor> outputs_in(std::string_view message, std::string* model_version) {
  std::vector<WrittenOutput> written;
  std::vector<std::string_view> raw;
  parsed(message, "the server's answer", [&](pbf_reader reader) {
    while (reader.next()) {
      switch (reader.tag()) {
        case 2: *model_version = cut_text(reader); break;
        case 5:
          if (written.size() == most_tensors) refuse_answer("it has too many outputs");
          written.push_back(output_in(message_of(reader)));
          break;
        case 6:
          if (raw.size() == most_tensors) refuse_answer("it has too many outputs");
          raw.push_back(view_of(reader));
          break;
        default: reader.skip();
      }
    }
    return true;
  });
  if (written.empty()) refuse_answer("it has no outputs");
  if (!raw.empty() && raw.size() != written.size())
    refuse_answer("it has " + std::to_string(written.size()) + " outputs and the contents of " +
                  std::to_string(raw.size()));
  std::vector<OutputTensor> outputs;
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::string_view contents;
    if (!raw.empty()) {
      contents = raw[i];
      written[i].binary_size = contents.size();
    }
    written[i].has_data = true;  // a tensor without elements may leave its contents out
    outputs.push_back(output_tensor(written[i], contents));
    written[i] = {};
  }
  return outputs;
}

}  // namespace infermeter
