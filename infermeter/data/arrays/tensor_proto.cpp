#include "infermeter/data/arrays/tensor_proto.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <protozero/pbf_reader.hpp>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using protozero::data_view;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr int kDeepestMessage = 8;
constexpr std::size_t kHighestTensorRank = 1024;

// Field numbers of TensorProto.
enum TensorField : protozero::pbf_tag_type {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

// SequenceProto and OptionalProto: both have elem_type as 2 and the kinds of content from 3 on.
enum ContentField : protozero::pbf_tag_type {
  kElementType = 2,
  kTensors = 3,
  kSparseTensors = 4,
  kSequences = 5,
  kMaps = 6,
  kOptionals = 7,
};

// A TensorProto with its contents still as they are stored. Typed fields are gathered as bytes of the field's own type.
struct RawTensor {
  Shape dims;
  std::int32_t data_type = 0;
  bool has_data_type = false;
  std::optional<data_view> raw;
  std::vector<std::string> strings;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int32_t> int32s;
  std::vector<std::int64_t> int64s;
  std::vector<std::uint64_t> uint64s;
};

std::span<const std::byte> bytes_of_view(data_view view) {
  return {reinterpret_cast<const std::byte*>(view.data()), view.size()};
}

class ValueParser {
 public:
  explicit ValueParser(const std::string& file) : file_(file) {}

  Result<Value> value(pbf_reader message, ProtoKind kind, int depth) const {
    if (depth > kDeepestMessage) return broken("its values are nested too deeply");
    switch (kind) {
      case ProtoKind::tensor: {
        INFERMETER_TRY(Tensor parsed, tensor(message));
        return Value{.kind = Value::Kind::tensor, .tensor = std::move(parsed), .elements = {}};
      }
      case ProtoKind::sequence: return sequence(message, depth);
      case ProtoKind::optional: return optional_value(message, depth);
    }
    return broken("it is of no known kind");
  }

 private:
  Error broken(std::string_view why) const {
    return io_error(fmt::format("{} cannot be read as ONNX test data: {}", in_quotes(file_), why));
  }

  static std::optional<ProtoKind> content_kind(protozero::pbf_tag_type tag) {
    if (tag == kTensors) return ProtoKind::tensor;
    if (tag == kSequences) return ProtoKind::sequence;
    if (tag == kOptionals) return ProtoKind::optional;
    return std::nullopt;
  }

  // Every nested value of a sequence or optional, in order.
  Result<std::vector<Value>> contents(pbf_reader message, int depth) const {
    std::vector<Value> out;
    while (message.next()) {
      if (message.tag() == kSparseTensors || message.tag() == kMaps)
        return broken("sparse tensors and maps are not read");
      const auto kind = content_kind(message.tag());
      if (!kind || message.wire_type() != pbf_wire_type::length_delimited) {
        message.skip();
        continue;
      }
      INFERMETER_TRY(Value inner, value(message.get_message(), *kind, depth + 1));
      out.push_back(std::move(inner));
    }
    return out;
  }

  Result<Value> sequence(pbf_reader message, int depth) const {
    Value out{.kind = Value::Kind::sequence, .tensor = {}, .elements = {}};
    INFERMETER_TRY(out.elements, contents(message, depth));
    return out;
  }

  Result<Value> optional_value(pbf_reader message, int depth) const {
    INFERMETER_TRY(std::vector<Value> inner, contents(message, depth));
    if (inner.empty()) return Value{.kind = Value::Kind::none, .tensor = {}, .elements = {}};
    if (inner.size() > 1) return broken("an optional has more than one value");
    return std::move(inner.front());
  }

  Result<Tensor> tensor(pbf_reader message) const {
    INFERMETER_TRY(RawTensor raw, fields(message));
    if (!raw.has_data_type || bits_of(static_cast<DType>(raw.data_type)) == 0) {
      if (static_cast<DType>(raw.data_type) != DType::string) {
        return broken(fmt::format("the element type {} is not known", raw.data_type));
      }
    }
    Tensor out{static_cast<DType>(raw.data_type), raw.dims, {}, {}};
    const auto count = element_count(out.shape);
    if (!count) return broken(fmt::format("the shape {} is impossible", to_string(out.shape)));
    if (out.dtype == DType::string) {
      if (raw.strings.size() != *count) return wrong_size(out, raw.strings.size(), "strings");
      out.strings = std::move(raw.strings);
      return out;
    }
    if (!raw.raw) return from_typed_field(raw, *count, std::move(out));
    if (raw.raw->size() != bytes_of(out.dtype, *count)) return wrong_size(out, raw.raw->size(), "bytes");
    out.data = Bytes::copy_of(bytes_of_view(*raw.raw));
    return out;
  }

  Error wrong_size(const Tensor& tensor, std::size_t got, std::string_view what) const {
    return broken(fmt::format("{} {} with {} {}", to_string(tensor.dtype), to_string(tensor.shape), got, what));
  }

  Result<RawTensor> fields(pbf_reader message) const {
    RawTensor out;
    while (message.next()) {
      switch (message.tag()) {
        case kSegment: return broken("a tensor in segments is not read");
        case kExternalData: return broken("its data is in another file, which is not read");
        case kDataLocation:
          require(message, pbf_wire_type::varint);
          if (message.get_enum() != 0) return broken("its data is in another file, which is not read");
          break;
        default: field(message, out);
      }
      if (out.dims.size() > kHighestTensorRank) return broken("it has too many dimensions");
    }
    return out;
  }

  // protozero asserts what the getters expect; in files that are not trusted it has to be asked first.
  static void require(const pbf_reader& message, pbf_wire_type type) {
    if (message.wire_type() != type) throw protozero::unknown_pbf_wire_type_exception{};
  }

  static void field(pbf_reader& message, RawTensor& out) {
    constexpr auto kVarint = pbf_wire_type::varint;
    switch (message.tag()) {
      case kDims: return numbers(message, out.dims, kVarint, &pbf_reader::get_int64, &pbf_reader::get_packed_int64);
      case kDataType:
        require(message, kVarint);
        out.data_type = message.get_int32();
        out.has_data_type = true;
        return;
      case kFloatData:
        return numbers(message, out.floats, pbf_wire_type::fixed32, &pbf_reader::get_float,
                       &pbf_reader::get_packed_float);
      case kInt32Data:
        return numbers(message, out.int32s, kVarint, &pbf_reader::get_int32, &pbf_reader::get_packed_int32);
      case kStringData:
        require(message, pbf_wire_type::length_delimited);
        out.strings.push_back(message.get_string());
        return;
      case kInt64Data:
        return numbers(message, out.int64s, kVarint, &pbf_reader::get_int64, &pbf_reader::get_packed_int64);
      case kRawData:
        require(message, pbf_wire_type::length_delimited);
        out.raw = message.get_view();
        return;
      case kDoubleData:
        return numbers(message, out.doubles, pbf_wire_type::fixed64, &pbf_reader::get_double,
                       &pbf_reader::get_packed_double);
      case kUint64Data:
        return numbers(message, out.uint64s, kVarint, &pbf_reader::get_uint64, &pbf_reader::get_packed_uint64);
      default: message.skip();
    }
  }

  // Repeated numbers come packed or one by one; both are allowed, even mixed.
  template <class T, class Range>
  static void numbers(pbf_reader& message, std::vector<T>& out, pbf_wire_type single_type, T (pbf_reader::*single)(),
                      Range (pbf_reader::*packed)()) {
    if (message.wire_type() != pbf_wire_type::length_delimited) {
      require(message, single_type);
      out.push_back((message.*single)());
      return;
    }
    for (const T number : (message.*packed)()) out.push_back(number);
  }

  Result<Tensor> from_typed_field(const RawTensor& raw, std::size_t count, Tensor out) const {
    switch (out.dtype) {
      case DType::float32: return stored<float>(raw.floats, count, std::move(out));
      case DType::complex64: return stored<float>(raw.floats, 2 * count, std::move(out));
      case DType::float64: return stored<double>(raw.doubles, count, std::move(out));
      case DType::complex128: return stored<double>(raw.doubles, 2 * count, std::move(out));
      case DType::int64: return stored<std::int64_t>(raw.int64s, count, std::move(out));
      case DType::uint64: return stored<std::uint64_t>(raw.uint64s, count, std::move(out));
      case DType::uint32: return stored<std::uint32_t>(raw.uint64s, count, std::move(out));
      case DType::int32: return stored<std::int32_t>(raw.int32s, count, std::move(out));
      case DType::int16:
      case DType::uint16:
      case DType::float16:
      case DType::bfloat16: return stored<std::uint16_t>(raw.int32s, count, std::move(out));
      // Types below 8 bits: one number is one byte, which holds two elements.
      default: {
        const auto bytes = bytes_of(out.dtype, count);
        return stored<std::uint8_t>(raw.int32s, bytes, std::move(out));
      }
    }
  }

  // The low bytes of each number: the file's types are wider than the tensor's.
  template <class To, class From>
  Result<Tensor> stored(const std::vector<From>& numbers, std::size_t count, Tensor out) const {
    if (numbers.size() != count) return wrong_size(out, numbers.size(), "numbers");
    std::byte* writable = nullptr;
    out.data = Bytes::allocate(count * sizeof(To), &writable);
    for (std::size_t i = 0; i < count; ++i) {
      const To number = static_cast<To>(numbers[i]);
      std::memcpy(writable + i * sizeof(To), &number, sizeof(To));
    }
    return out;
  }

  const std::string& file_;
};

}  // namespace

Result<Value> parse_value(std::span<const std::byte> message, ProtoKind kind, const std::string& file) {
  try {
    const pbf_reader reader(reinterpret_cast<const char*>(message.data()), message.size());
    return ValueParser(file).value(reader, kind, 0);
  } catch (const protozero::exception&) {
    return io_error(
        fmt::format("{} cannot be read as ONNX test data: its contents are cut off or damaged", in_quotes(file)));
  }
}

Result<Value> parse_any_value(std::span<const std::byte> message, const std::string& file) {
  auto tensor = parse_value(message, ProtoKind::tensor, file);
  if (tensor.ok()) return tensor;
  auto sequence = parse_value(message, ProtoKind::sequence, file);
  if (sequence.ok()) return sequence;
  return tensor;  // its complaint says most
}

}  // namespace infermeter
