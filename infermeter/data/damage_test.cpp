// Every kind of file cut at every byte and with every bit of its beginning flipped: a clean error or a load that can be
// read through, never a crash, never much memory. The sanitizers run this too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <protozero/pbf_writer.hpp>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/data/arrays/npz.hpp"
#include "infermeter/data/arrays/tensor_proto.hpp"
#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/data/images/image.hpp"
#include "infermeter/data/regular_file.hpp"

namespace infermeter::damage_test {
namespace {

using FileBytes = std::vector<std::byte>;
// Loads the bytes; the message if that failed, "" if it did not.
using Load = std::function<std::string(const FileBytes&)>;

template <class T>
std::string message_of(const Result<T>& result) {
  if (!result.ok()) {
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  }
  return result.ok() ? "" : result.error().message;
}

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(const FileBytes& bytes) : left_(bytes) {}
  Result<Done> read(std::span<std::byte> out) override {
    if (out.size() > left_.size()) return io_error("it ends too early");
    std::copy_n(left_.begin(), out.size(), out.begin());
    left_ = left_.subspan(out.size());
    return Done{};
  }
  [[nodiscard]] std::uint64_t remaining() const override { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

std::string load_npy(const FileBytes& bytes) {
  MemorySource source(bytes);
  const auto tensor = read_npy(source, "damaged.npy", {.bytes = 1 << 20});
  if (tensor.ok() && tensor->dtype != DType::string) {
    EXPECT_TRUE(to_doubles(*tensor).ok());
  }
  return message_of(tensor);
}

std::string load_npz(const FileBytes& bytes) {
  static const fixtures::Folder folder;
  std::filesystem::remove(folder / "damaged.npz");  // some file systems flush a file that is overwritten, not a new one
  const auto file = NpzFile::open(folder.write("damaged.npz", bytes));
  if (!file.ok()) return message_of(file);
  std::string worst;
  for (const std::string& name : file->names())
    worst = std::max(worst, message_of(file->read(name, {.bytes = 1 << 20})));
  return worst;
}

std::string load_image(const FileBytes& bytes) { return message_of(decode_image(bytes)); }

std::string load_proto(const FileBytes& bytes) {
  for (const ProtoKind kind : {ProtoKind::sequence, ProtoKind::optional}) {
    message_of(parse_value(bytes, kind, "damaged.pb"));
  }
  const auto tensor = parse_value(bytes, ProtoKind::tensor, "damaged.pb");
  if (tensor.ok() && tensor->tensor.dtype != DType::string) {
    EXPECT_TRUE(to_doubles(tensor->tensor).ok());
  }
  return message_of(tensor);
}

FileBytes fixture(const std::string& name) { return *read_file(fixtures::path(name), 1 << 20); }

// Every prefix; all of them are errors but, where the format ends before the file does, the last few.
void cut_everywhere(const FileBytes& whole, const Load& load, std::size_t harmless_end = 0) {
  EXPECT_EQ(load(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string message = load({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    if (size + harmless_end < whole.size()) {
      ASSERT_NE(message, "") << size;
    }
  }
}

void flip_everywhere(const FileBytes& whole, const Load& load, std::size_t beginning) {
  for (std::size_t bit = 0; bit < 8 * std::min(beginning, whole.size()); ++bit) {
    FileBytes damaged = whole;
    damaged[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    load(damaged);
  }
}

TEST(Damage, Npy) {
  for (const char* name : {"v1.npy", "v2.npy", "fortran.npy", "big_endian.npy", "scalar.npy", "unicode.npy"}) {
    cut_everywhere(fixture(name), load_npy);
    flip_everywhere(fixture(name), load_npy, 128);
  }
}

TEST(Damage, Npz) {
  for (const char* name : {"named.npz", "ordered.npz"}) {
    cut_everywhere(fixture(name), load_npz);
    flip_everywhere(fixture(name), load_npz, 1000);
  }
}

TEST(Damage, Png) {
  for (const char* name : {"bilevel.png", "palette.png", "rgb16.png"}) {
    cut_everywhere(fixture(name), load_image, 16);  // the end chunk and a checksum
    flip_everywhere(fixture(name), load_image, 400);
  }
}

TEST(Damage, Jpeg) {
  for (const char* name : {"grey.jpg", "tall.jpg"}) {
    cut_everywhere(fixture(name), load_image, 2);  // the end marker
    flip_everywhere(fixture(name), load_image, 700);
  }
}

TEST(Damage, Protobuf) {
  std::string typed;
  protozero::pbf_writer writer(typed);
  for (const std::int64_t dimension : {2, 3}) writer.add_int64(1, dimension);
  writer.add_int32(2, 1);
  const std::vector<float> floats{1, 2, 3, 4, 5, 6};
  writer.add_packed_float(4, floats.begin(), floats.end());
  std::string sequence;
  for (int i = 0; i < 3; ++i) protozero::pbf_writer(sequence).add_message(3, typed);
  const auto bytes = [](const std::string& text) {
    const auto view = std::as_bytes(std::span(text));
    return FileBytes(view.begin(), view.end());
  };
  cut_everywhere(bytes(typed), load_proto);
  flip_everywhere(bytes(typed), load_proto, typed.size());
  flip_everywhere(bytes(sequence), load_proto, sequence.size());
}

}  // namespace
}  // namespace infermeter::damage_test
