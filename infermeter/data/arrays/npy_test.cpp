#include "infermeter/data/arrays/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zip.h>

#include <fstream>
#include <numeric>

#include "infermeter/data/arrays/npy_header.hpp"
#include "infermeter/data/arrays/npz.hpp"
#include "infermeter/data/arrays/write_npz.hpp"
#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::npy_test {
namespace {

using fixtures::path;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> counting(std::size_t count) {
  std::vector<double> out(count);
  std::iota(out.begin(), out.end(), 0.0);
  return out;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

std::string refusal(const std::string& text) {
  const auto header = parse_npy_dict(text, "f.npy");
  return header.ok() ? "accepted" : header.error().message;
}

TEST(Npy, ReadsEveryVersionAndOrder) {
  for (const char* name : {"v1.npy", "v2.npy", "v3.npy", "fortran.npy", "big_endian.npy"}) {
    const auto tensor = read_npy(path(name));
    ASSERT_TRUE(tensor.ok()) << tensor.error().message;
    EXPECT_EQ(tensor->dtype, DType::float32);
    EXPECT_EQ(tensor->shape, (Shape{2, 3, 4}));
    EXPECT_EQ(*to_doubles(*tensor), counting(24)) << name;
  }
  const auto complex = read_npy(path("big_endian_fortran_complex.npy"));
  EXPECT_EQ(complex->dtype, DType::complex128);
  EXPECT_EQ(*to_doubles(*complex), counting(24));
}

TEST(Npy, ReadsScalarsEmptyOnesAndOtherTypes) {
  EXPECT_THAT(*to_doubles(*read_npy(path("scalar.npy"))), ElementsAre(2.5));
  EXPECT_TRUE(read_npy(path("scalar.npy"))->shape.empty());
  EXPECT_EQ(read_npy(path("empty.npy"))->shape, (Shape{0, 3}));
  EXPECT_THAT(*to_doubles(*read_npy(path("half.npy"))), ElementsAre(1.5, -2, 65504));
  EXPECT_EQ(read_npy(path("bool.npy"))->dtype, DType::boolean);
  EXPECT_THAT(read_npy(path("unicode.npy"))->strings, ElementsAre("grün", "", "日本", "\xF0\x9F\x98\x80"));
  EXPECT_THAT(read_npy(path("bytes.npy"))->strings, ElementsAre("one", "three"));
}

TEST(Npy, ReadsOnlyTheRowsThatAreWanted) {
  EXPECT_EQ(read_npy(path("v1.npy"), {.rows = 1})->shape, (Shape{1, 3, 4}));
  EXPECT_EQ(*to_doubles(*read_npy(path("v1.npy"), {.rows = 1})), counting(12));
  EXPECT_EQ(read_npy(path("v1.npy"), {.rows = 9})->shape, (Shape{2, 3, 4}));
  EXPECT_EQ(*to_doubles(*read_npy(path("fortran.npy"), {.rows = 1})), counting(12));
  EXPECT_THAT(read_npy(path("v1.npy"), {.bytes = 95}).error().message, HasSubstr("use --data-limit"));
  EXPECT_TRUE(read_npy(path("v1.npy"), {.bytes = 96}).ok());
}

TEST(Npy, RefusesCode) {
  const auto object = read_npy(path("object.npy"));
  EXPECT_THAT(object.error().message, HasSubstr("pickled code"));
  EXPECT_THAT(object.error().message, HasSubstr("object.npy"));
  EXPECT_THAT(read_npy(path("records.npy")).error().message, HasSubstr("it contains records"));
  for (const char* text : {
           "{'descr': __import__('os').system('id'), 'fortran_order': False, 'shape': (1,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1+1,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }",
           "{'descr': '<f4' 'fortran_order': False, 'shape': (1,), }",
           "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } + 1",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
           "{'descr': '<f4",
           "[]",
           "",
       }) {
    EXPECT_THAT(refusal(text), HasSubstr("not a plain description")) << text;
  }
}

TEST(Npy, SaysWhatIsWrongWithAHeader) {
  EXPECT_EQ(refusal(dict("'<f4'", "(1, 2L)")), "accepted");  // Python 2 wrote long integers
  EXPECT_EQ(refusal(dict("'<f4'", "()", "True")), "accepted");
  EXPECT_THAT(refusal("{'descr': '<f4', 'shape': (1,)}"), HasSubstr("lacks descr, fortran_order or shape"));
  EXPECT_THAT(refusal(dict("'<f16'", "(1,)")), HasSubstr("element type '<f16' is not supported"));
  EXPECT_THAT(refusal(dict("'<M8[ns]'", "(1,)")), HasSubstr("not supported"));
  EXPECT_THAT(refusal(dict("'<U99999999'", "(1,)")), HasSubstr("no usable width"));
  EXPECT_THAT(refusal(dict("'<f4'", "(4294967296, 4294967296)")), HasSubstr("its shape is impossible"));
  std::string shape = "(";
  for (int i = 0; i < 65; ++i) shape += "1, ";
  EXPECT_THAT(refusal(dict("'<f4'", shape + ")")), HasSubstr("more than 64 dimensions"));
}

TEST(Npy, SaysWhatIsWrongWithAFile) {
  const fixtures::Folder folder;
  EXPECT_THAT(read_npy(folder / "none.npy").error().message, HasSubstr("No such file"));
  EXPECT_THAT(read_npy(folder.string()).error().message, HasSubstr("is not a regular file"));
  ASSERT_EQ(::mkfifo((folder / "pipe.npy").c_str(), 0600), 0);
  EXPECT_THAT(read_npy(folder / "pipe.npy").error().message, HasSubstr("is not a regular file"));
  EXPECT_THAT(read_npy(folder.write("a.npy", "x")).error().message, HasSubstr("it is too short"));
  EXPECT_THAT(read_npy(folder.write("b.npy", "not numpy at all")).error().message, HasSubstr("does not begin as"));
  EXPECT_THAT(read_npy(folder.write("c.npy", std::string("\x93NUMPY\x04\x00\x10\x00", 10))).error().message,
              HasSubstr("version is not known"));
  EXPECT_THAT(read_npy(folder.write("d.npy", std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F", 12))).error().message,
              HasSubstr("its header would be 2147483647 bytes"));
  // A small file that declares 4 TB of numbers: refused before memory is taken.
  const std::string text = dict("'<f4'", "(1099511627776,)");
  const std::string head = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
  EXPECT_THAT(read_npy(folder.write("e.npy", head)).error().message, HasSubstr("more than the"));
  const std::string fair = dict("'<f4'", "(10,)");
  const std::string cut = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(fair.size()) + '\0' + fair + "abcd";
  EXPECT_THAT(read_npy(folder.write("f.npy", cut)).error().message, HasSubstr("needs 40 bytes and 4 are left"));
}

TEST(Npy, WritesWhatItReads) {
  const fixtures::Folder folder;
  for (const char* name : {"v1.npy", "scalar.npy", "empty.npy", "half.npy", "bool.npy", "unicode.npy", "bytes.npy",
                           "big_endian_fortran_complex.npy"}) {
    const Value original{.tensor = *read_npy(path(name))};
    ASSERT_TRUE(write_npy(folder / "copy.npy", original.tensor).ok());
    const Value copy{.tensor = *read_npy(folder / "copy.npy")};
    EXPECT_EQ(digest({&copy, 1}), digest({&original, 1})) << name;
  }
  const std::vector<std::uint16_t> brain{0x3F80, 0xC000};
  ASSERT_TRUE(write_npy(folder / "brain.npy", make_tensor<std::uint16_t>(DType::bfloat16, {2}, brain)).ok());
  EXPECT_THAT(*to_doubles(*read_npy(folder / "brain.npy")), ElementsAre(1, -2));
}

TEST(Npy, WritesNumPysOwnBytes) {
  const fixtures::Folder folder;
  for (const char* name : {"v1.npy", "scalar.npy", "empty.npy", "half.npy", "bool.npy", "unicode.npy"}) {
    ASSERT_TRUE(write_npy(folder / "copy.npy", *read_npy(path(name))).ok());
    EXPECT_EQ(*read_file(folder / "copy.npy", 1000), *read_file(path(name), 1000)) << name;
  }
}

TEST(Npy, SaysWhatCannotBeWritten) {
  const fixtures::Folder folder;
  const Tensor small = make_tensor<std::uint8_t>(DType::float8e5m2, {1}, std::vector<std::uint8_t>{1});
  EXPECT_THAT(write_npy(folder / "a.npy", small).error().message, HasSubstr("NumPy has no type float8e5m2"));
  const auto text = [](std::string s) { return Tensor{DType::string, {1}, {}, {std::move(s)}}; };
  EXPECT_THAT(write_npy(folder / "a.npy", text("\xC0\xAF")).error().message, HasSubstr("not valid UTF-8"));
  EXPECT_FALSE(write_npy(folder / "a.npy", text("\xED\xA0\x80")).ok());  // a surrogate
  EXPECT_FALSE(write_npy(folder / "a.npy", text("\xE2\x82")).ok());      // cut short
  EXPECT_THAT(write_npy(folder / "a.npy", text(std::string("a\0", 2))).error().message, HasSubstr("ends in NUL"));
  EXPECT_THAT(write_npy(folder / "no/such/a.npy", text("a")).error().message, HasSubstr("cannot write"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.string()));
}

TEST(Npz, ReadsByName) {
  const auto file = NpzFile::open(path("named.npz"));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_THAT(file->names(), ElementsAre("x", "ids"));
  EXPECT_EQ(*to_doubles(*file->read("x")), counting(6));
  EXPECT_EQ(file->read("x", {.rows = 1})->shape, (Shape{1, 3}));
  EXPECT_EQ(file->read("ids")->dtype, DType::int64);
  EXPECT_THAT(file->read("y").error().message, HasSubstr("it has no array 'y'"));
}

// One bit of the numbers of a stored member, which unpacks as well as before.
TEST(Npz, RefusesAMemberWithAnotherChecksum) {
  const fixtures::Folder folder;
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const Tensor x = make_tensor<float>(DType::float32, {2, 3}, numbers);
  ASSERT_TRUE(write_npz(folder / "whole.npz", {{"x", x}, {"same", x}}).ok());
  std::string bytes = whole_file(folder / "whole.npz");
  const auto place = bytes.find(std::string("\x00\x00\xA0\x40", 4));  // the fifth number of x
  ASSERT_NE(place, std::string::npos);
  bytes[place + 1] ^= 1;
  const auto file = NpzFile::open(folder.write("flipped.npz", bytes));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_THAT(file->read("x").error().message, testing::AllOf(HasSubstr("flipped.npz:x"), HasSubstr("CRC-32")));
  EXPECT_THAT(file->read("x", {.rows = 1}).error().message, HasSubstr("CRC-32"));  // though that row is right
  EXPECT_TRUE(file->read("same").ok());
}

TEST(Npz, RefusesNamesThatLeadElsewhereOrOccurTwice) {
  EXPECT_THAT(NpzFile::open(path("outside.npz")).error().message, HasSubstr("'../x.npy' leads elsewhere"));
  EXPECT_THAT(NpzFile::open(path("twice.npz")).error().message, HasSubstr("'x.npy' is in it twice"));
  EXPECT_THAT(NpzFile::open(path("v1.npy")).error().message, HasSubstr("is not a usable .npz file"));
  EXPECT_THAT(NpzFile::open(path("none.npz")).error().message, HasSubstr("No such file"));
}

// Strings without a byte in the file take 32 in memory.
TEST(Npy, MemoryIsBoundedByTheFilesSize) {
  const fixtures::Folder folder;
  std::string bytes = "\x93NUMPY\x01";
  const std::string text = dict("'|S0'", "(15000000,)");
  bytes += std::string({'\0', static_cast<char>(text.size()), '\0'}) + text;
  std::ofstream(folder / "none.npy", std::ios::binary) << bytes;
  const auto none = read_npy(folder / "none.npy");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("more than the 67108864 bytes that may be read"));
  EXPECT_EQ(most_memory_for(128), std::uint64_t{64} << 20);
  EXPECT_EQ(most_memory_for(std::uint64_t{1} << 30), std::uint64_t{64} << 30);
}

// A few kB that unpack to strings of one byte each, which take 33.
TEST(Npz, MemoryIsBoundedByThePackedSize) {
  const fixtures::Folder folder;
  const std::size_t count = 60'000'000;
  std::string bytes = "\x93NUMPY\x01";
  const std::string text = dict("'|S1'", "(60000000,)");
  bytes += std::string({'\0', static_cast<char>(text.size()), '\0'}) + text;
  bytes.append(count, '\0');
  int code = 0;
  zip_t* const archive = zip_open((folder / "bomb.npz").c_str(), ZIP_CREATE, &code);
  zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  ASSERT_GE(zip_file_add(archive, "x.npy", source, 0), 0);
  ASSERT_EQ(zip_close(archive), 0);
  const auto file = NpzFile::open(folder / "bomb.npz");
  ASSERT_TRUE(file.ok());
  const auto array = file->read("x", {});
  ASSERT_FALSE(array.ok());
  EXPECT_THAT(array.error().message, HasSubstr("bytes that may be read"));
}

}  // namespace
}  // namespace infermeter::npy_test
