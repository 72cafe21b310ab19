#include "infermeter/data/value_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "infermeter/diagnostics/check.hpp"

// All numbers are 8 bytes, little-endian, at multiples of 8:
//   block:   magic, version, item count, items
//   item:    value count, values
//   value:   kind; tensor: dtype, rank, dimensions, contents; sequence: element count, elements
//   contents: byte count, padding to 64, bytes; of strings: per element its byte count, its bytes, padding to 8
namespace infermeter {
namespace {

constexpr std::uint64_t kMagic = 0x31'4B'4C'42'56'4D'46'49;  // "IFMVBLK1"
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kDataAlignment = 64;
constexpr int kDeepestSequence = 16;  // sequences in sequences

std::size_t aligned(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Writes, or only counts when there is no block: the size and the layout cannot disagree.
class Writer {
 public:
  explicit Writer(std::span<std::byte> block) : block_(block) {}

  void items(std::span<const ItemValues> items) {
    number(kMagic);
    number(kVersion);
    number(items.size());
    for (const ItemValues& item : items) {
      number(item.size());
      for (const Value& element : item) value(element);
    }
  }
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  void value(const Value& value) {
    number(static_cast<std::uint64_t>(value.kind));
    if (value.kind == Value::Kind::tensor) tensor(value.tensor);
    if (value.kind != Value::Kind::sequence) return;
    number(value.elements.size());
    for (const Value& element : value.elements) this->value(element);
  }

  void tensor(const Tensor& tensor) {
    number(static_cast<std::uint64_t>(tensor.dtype));
    number(tensor.shape.size());
    for (const std::int64_t dimension : tensor.shape) number(static_cast<std::uint64_t>(dimension));
    if (tensor.dtype != DType::string) return bytes(tensor.data.span(), kDataAlignment);
    for (const std::string& text : tensor.strings) bytes(std::as_bytes(std::span(text)), sizeof(std::uint64_t));
  }

  void bytes(std::span<const std::byte> source, std::size_t alignment) {
    number(source.size());
    pad(alignment);
    put(source);
    pad(sizeof(std::uint64_t));
  }

  void number(std::uint64_t number) { put(std::as_bytes(std::span(&number, 1))); }

  void put(std::span<const std::byte> source) {
    if (!block_.empty() && !source.empty()) {
      INFERMETER_CHECK(block_.size() - offset_ >= source.size());
      std::memcpy(block_.data() + offset_, source.data(), source.size());
    }
    offset_ += source.size();
  }

  void pad(std::size_t alignment) {
    const std::size_t end = aligned(offset_, alignment);
    if (!block_.empty() && end > offset_) {
      INFERMETER_CHECK(end <= block_.size());
      std::memset(block_.data() + offset_, 0, end - offset_);
    }
    offset_ = end;
  }

  std::span<std::byte> block_;
  std::size_t offset_ = 0;
};

// Counts are believed only as far as the bytes that are left can hold them.
class Reader {
 public:
  Reader(std::span<const std::byte> block, std::shared_ptr<const void> owner, std::uint64_t most_bytes)
      : block_(block), owner_(std::move(owner)), left_bytes_(most_bytes) {}

  Result<std::vector<ItemValues>> items() {
    INFERMETER_TRY(const std::uint64_t magic, number("magic"));
    INFERMETER_TRY(const std::uint64_t version, number("version"));
    if (magic != kMagic) return broken("it does not begin with its magic number");
    if (version != kVersion) return broken(fmt::format("its version is {}, {} is known", version, kVersion));
    INFERMETER_TRY(const std::size_t count, count_of<ItemValues>("items"));
    std::vector<ItemValues> items(count);
    for (ItemValues& item : items) {
      INFERMETER_TRY(item, values("values", 0));
    }
    return items;
  }

 private:
  [[nodiscard]] std::size_t left() const { return block_.size() - offset_; }

  Error broken(const std::string& why) const {
    return worker_error(fmt::format("the shared block of tensors is damaged at byte {}: {}", offset_, why));
  }

  Result<std::uint64_t> number(std::string_view what) {
    if (left() < sizeof(std::uint64_t)) return broken(fmt::format("{} is missing", what));
    std::uint64_t number = 0;
    std::memcpy(&number, block_.data() + offset_, sizeof number);
    offset_ += sizeof number;
    return number;
  }

  // Whatever is counted takes at least 8 bytes each.
  template <class T>
  Result<std::size_t> count_of(std::string_view what) {
    INFERMETER_TRY(const std::uint64_t count, number(what));
    if (count > left() / sizeof(std::uint64_t)) return broken(fmt::format("{} {} cannot fit", count, what));
    INFERMETER_TRY_DONE(charge(count * sizeof(T)));
    return static_cast<std::size_t>(count);
  }

  // 8 bytes of a block can be a value or a text, which take far more in memory.
  Result<Done> charge(std::uint64_t bytes) {
    if (bytes > left_bytes_) return worker_error("the shared block of tensors has too many parts for the memory limit");
    left_bytes_ -= bytes;
    return Done{};
  }

  Result<std::vector<Value>> values(std::string_view what, int depth) {
    if (depth > kDeepestSequence) return broken("sequences are nested too deeply");
    INFERMETER_TRY(const std::size_t count, count_of<Value>(what));
    std::vector<Value> out;
    out.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      INFERMETER_TRY(Value element, value(depth));
      out.push_back(std::move(element));
    }
    return out;
  }

  Result<Value> value(int depth) {
    INFERMETER_TRY(const std::uint64_t kind, number("kind"));
    Value out;
    switch (kind) {
      case static_cast<std::uint64_t>(Value::Kind::none): out.kind = Value::Kind::none; return out;
      case static_cast<std::uint64_t>(Value::Kind::tensor): {
        INFERMETER_TRY(out.tensor, tensor());
        return out;
      }
      case static_cast<std::uint64_t>(Value::Kind::sequence): {
        out.kind = Value::Kind::sequence;
        INFERMETER_TRY(out.elements, values("elements", depth + 1));
        return out;
      }
      default: return broken(fmt::format("{} is not a kind of value", kind));
    }
  }

  Result<Tensor> tensor() {
    Tensor out;
    INFERMETER_TRY(const std::uint64_t dtype, number("dtype"));
    if (dtype == 0 || dtype > static_cast<std::uint64_t>(DType::float4e2m1)) {
      return broken(fmt::format("{} is not an element type", dtype));
    }
    out.dtype = static_cast<DType>(dtype);
    INFERMETER_TRY(const std::size_t rank, count_of<std::int64_t>("dimensions"));
    out.shape.reserve(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      INFERMETER_TRY(const std::uint64_t dimension, number("dimension"));
      out.shape.push_back(static_cast<std::int64_t>(dimension));
    }
    const auto count = element_count(out.shape);
    if (!count) return broken("a shape is impossible");
    INFERMETER_TRY_DONE(out.dtype == DType::string ? strings(*count, out) : data(*count, out));
    return out;
  }

  Result<Done> data(std::size_t count, Tensor& tensor) {
    INFERMETER_TRY(const auto bytes, contents(kDataAlignment));
    if (bytes.size() != bytes_of(tensor.dtype, count)) return broken("a tensor's bytes do not fit its shape");
    tensor.data = Bytes::view(bytes, owner_);
    return Done{};
  }

  Result<Done> strings(std::size_t count, Tensor& tensor) {
    if (count > left() / sizeof(std::uint64_t)) return broken(fmt::format("{} strings cannot fit", count));
    INFERMETER_TRY_DONE(charge(count * sizeof(std::string)));
    tensor.strings.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      INFERMETER_TRY(const auto bytes, contents(sizeof(std::uint64_t)));
      if (bytes.size() >= sizeof(std::string)) INFERMETER_TRY_DONE(charge(bytes.size()));
      tensor.strings.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return Done{};
  }

  Result<std::span<const std::byte>> contents(std::size_t alignment) {
    INFERMETER_TRY(const std::uint64_t size, number("size"));
    const std::size_t begin = aligned(offset_, alignment);
    if (begin > block_.size() || size > block_.size() - begin) return broken(fmt::format("{} bytes cannot fit", size));
    const std::size_t end = aligned(begin + static_cast<std::size_t>(size), sizeof(std::uint64_t));
    if (end > block_.size()) return broken("padding is missing");
    offset_ = end;
    return block_.subspan(begin, static_cast<std::size_t>(size));
  }

  std::span<const std::byte> block_;
  std::shared_ptr<const void> owner_;
  std::uint64_t left_bytes_;
  std::size_t offset_ = 0;
};

// A tensor of empty texts takes four times as much in memory.
std::uint64_t usual_bytes(std::size_t block_size) {
  constexpr std::uint64_t always = std::uint64_t{64} << 20U;
  return always + block_size * 4;
}

}  // namespace

std::size_t block_size(std::span<const ItemValues> items) {
  Writer counter({});
  counter.items(items);
  return counter.offset();
}

void write_block(std::span<const ItemValues> items, std::span<std::byte> block) {
  INFERMETER_CHECK(!block.empty());
  Writer writer(block);
  writer.items(items);
  INFERMETER_CHECK(writer.offset() == block.size());
}

Result<std::vector<ItemValues>> read_block(std::span<const std::byte> block, std::shared_ptr<const void> owner,
                                           std::optional<std::uint64_t> most_bytes) {
  return Reader(block, std::move(owner), most_bytes.value_or(usual_bytes(block.size()))).items();
}

}  // namespace infermeter
