#include "infermeter/data/arrays/npy_header.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::size_t kLongestHeader = 64 * 1024;  // NumPy's own limit is 10,000
constexpr std::size_t kHighestArrayRank = 64;      // NumPy's
constexpr std::size_t kLongestText = 1 << 20;

struct PlainType {
  std::string_view name;
  DType dtype;
  std::size_t item_bytes;
  std::size_t swap_bytes;
};

// "V2" is how NumPy stores bfloat16, a type that it does not have itself (ml_dtypes).
constexpr std::array<PlainType, 16> kPlainTypes{{
    {"b1", DType::boolean, 1, 0},
    {"?", DType::boolean, 1, 0},
    {"i1", DType::int8, 1, 0},
    {"i2", DType::int16, 2, 2},
    {"i4", DType::int32, 4, 4},
    {"i8", DType::int64, 8, 8},
    {"u1", DType::uint8, 1, 0},
    {"u2", DType::uint16, 2, 2},
    {"u4", DType::uint32, 4, 4},
    {"u8", DType::uint64, 8, 8},
    {"f2", DType::float16, 2, 2},
    {"f4", DType::float32, 4, 4},
    {"f8", DType::float64, 8, 8},
    {"c8", DType::complex64, 8, 4},
    {"c16", DType::complex128, 16, 8},
    {"V2", DType::bfloat16, 2, 2},
}};

Error broken_header(const std::string& file, std::string_view why) {
  return io_error(fmt::format("{} is not a usable .npy file: {}", in_quotes(file), why));
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T out{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

Result<Done> set_text_type(char code, std::string_view digits, bool big_endian, NpyHeader& header,
                           const std::string& file) {
  const auto width = whole_number<std::size_t>(digits);
  if (!width || *width > kLongestText) return broken_header(file, "its strings have no usable width");
  header.dtype = DType::string;
  header.text = code == 'U' ? NpyHeader::Text::utf32 : NpyHeader::Text::bytes;
  header.item_bytes = code == 'U' ? *width * 4 : *width;
  header.swap_bytes = big_endian && code == 'U' ? 4 : 0;
  return Done{};
}

Result<Done> set_type(std::string_view descr, NpyHeader& header, const std::string& file) {
  bool big_endian = false;
  std::string_view type = descr;
  if (!type.empty() && std::string_view("<>=|").find(type[0]) != std::string_view::npos) {
    big_endian = type[0] == '>';
    type.remove_prefix(1);
  }
  if (!type.empty() && type[0] == 'O') {
    return broken_header(file,
                         "it contains Python objects, which are pickled code and are never loaded; save plain numbers");
  }
  for (const PlainType& plain : kPlainTypes) {
    if (plain.name != type) continue;
    header.dtype = plain.dtype;
    header.item_bytes = plain.item_bytes;
    header.swap_bytes = big_endian ? plain.swap_bytes : 0;
    return Done{};
  }
  if (!type.empty() && (type[0] == 'U' || type[0] == 'S')) {
    return set_text_type(type[0], type.substr(1), big_endian, header, file);
  }
  return broken_header(file, fmt::format("its element type {} is not supported", in_quotes(descr)));
}

// A dict of three known keys with a string, a bool and a tuple of whole numbers. Nothing is evaluated: whatever else
// Python would run is a syntax error here.
class DictParser {
 public:
  DictParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<NpyHeader> parse() {
    if (!take('{')) return plain_only();
    while (!take('}')) {
      INFERMETER_TRY(const std::string_view key, string());
      if (!take(':')) return plain_only();
      INFERMETER_TRY_DONE(value(key));
      if (!take(',') && !looking_at('}')) return plain_only();
    }
    skip_space();
    if (position_ != text_.size()) return plain_only();
    if (!has_descr_ || !has_order_ || !has_shape_)
      return broken_header(file_, "its header lacks descr, fortran_order or shape");
    return header_;
  }

 private:
  Error plain_only() const {
    return broken_header(file_,
                         fmt::format("its header is not a plain description of an array (at character {})", position_));
  }

  Result<Done> value(std::string_view key) {
    bool* seen = key == "descr"           ? &has_descr_
                 : key == "fortran_order" ? &has_order_
                 : key == "shape"         ? &has_shape_
                                          : nullptr;
    if (seen == nullptr || *seen) return plain_only();
    *seen = true;
    if (key == "shape") return shape();
    if (key == "fortran_order") return boolean();
    if (looking_at('[')) return broken_header(file_, "it contains records; save each field as an array of its own");
    INFERMETER_TRY(const std::string_view descr, string());
    return set_type(descr, header_, file_);
  }

  Result<Done> boolean() {
    skip_space();
    const std::string_view rest = text_.substr(position_);
    header_.fortran_order = rest.starts_with("True");
    if (!header_.fortran_order && !rest.starts_with("False")) return plain_only();
    position_ += header_.fortran_order ? 4 : 5;
    return Done{};
  }

  Result<Done> shape() {
    if (!take('(')) return plain_only();
    while (!take(')')) {
      if (header_.shape.size() == kHighestArrayRank) return broken_header(file_, "it has more than 64 dimensions");
      INFERMETER_TRY(const std::int64_t dimension, dimension());
      header_.shape.push_back(dimension);
      if (!take(',') && !looking_at(')')) return plain_only();
    }
    return Done{};
  }

  Result<std::int64_t> dimension() {
    skip_space();
    const std::size_t begin = position_;
    while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') ++position_;
    const auto number = whole_number<std::int64_t>(text_.substr(begin, position_ - begin));
    if (!number) return plain_only();
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // written by Python 2
    return *number;
  }

  Result<std::string_view> string() {
    skip_space();
    if (position_ == text_.size() || (text_[position_] != '\'' && text_[position_] != '"')) return plain_only();
    const std::size_t end = text_.find(text_[position_], position_ + 1);
    if (end == std::string_view::npos) return plain_only();
    const std::string_view out = text_.substr(position_ + 1, end - position_ - 1);
    if (out.find('\\') != std::string_view::npos) return plain_only();
    position_ = end + 1;
    return out;
  }

  void skip_space() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
  }
  bool looking_at(char character) {
    skip_space();
    return position_ < text_.size() && text_[position_] == character;
  }
  bool take(char character) {
    const bool here = looking_at(character);
    position_ += here ? 1 : 0;
    return here;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t position_ = 0;
  NpyHeader header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

Result<std::size_t> read_length(ByteSource& source, int version, const std::string& file) {
  std::array<std::byte, 4> bytes{};
  const std::size_t width = version == 1 ? 2 : 4;
  if (source.remaining() < width) return broken_header(file, "it ends in its header");
  INFERMETER_TRY_DONE(source.read(std::span(bytes).first(width)));
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) length |= std::to_integer<std::size_t>(bytes[i]) << (8 * i);
  if (length > kLongestHeader) return broken_header(file, fmt::format("its header would be {} bytes long", length));
  if (length > source.remaining()) return broken_header(file, "it ends in its header");
  return length;
}

}  // namespace

Result<NpyHeader> parse_npy_dict(std::string_view text, const std::string& file) {
  INFERMETER_TRY(NpyHeader header, DictParser(text, file).parse());
  if (header.item_bytes > 0 && !element_count(header.shape)) return broken_header(file, "its shape is impossible");
  return header;
}

Result<NpyHeader> read_npy_header(ByteSource& source, const std::string& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  std::array<std::byte, 8> start{};
  if (source.remaining() < start.size()) return broken_header(file, "it is too short");
  INFERMETER_TRY_DONE(source.read(start));
  if (std::string_view(reinterpret_cast<const char*>(start.data()), kMagic.size()) != kMagic) {
    return broken_header(file, "it does not begin as NumPy's files do");
  }
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3 || start[7] != std::byte{0})
    return broken_header(file, "its format version is not known");
  INFERMETER_TRY(const std::size_t length, read_length(source, version, file));
  std::string text(length, '\0');
  INFERMETER_TRY_DONE(source.read(std::as_writable_bytes(std::span(text))));
  return parse_npy_dict(text, file);
}

}  // namespace infermeter
