#include "infermeter/data/images/image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/data/images/image_data.hpp"
#include "infermeter/data/images/resize.hpp"
#include "infermeter/data/regular_file.hpp"

namespace infermeter::image_test {
namespace {

using fixtures::path;
using testing::HasSubstr;

// The largest difference in grey levels between an image and Pillow's result.
int difference(const Image& image, const std::string& expected) {
  const auto tensor = read_npy(path(expected));
  EXPECT_TRUE(tensor.ok()) << expected;
  EXPECT_EQ(tensor->shape, (Shape{static_cast<std::int64_t>(image.height), static_cast<std::int64_t>(image.width), 3}));
  const auto pixels = tensor->as<std::uint8_t>();
  EXPECT_EQ(pixels.size(), image.pixels.size());
  int worst = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) worst = std::max(worst, std::abs(pixels[i] - image.pixels[i]));
  return worst;
}

TEST(Image, DecodesAsPillowDoes) {
  for (const char* name : {"wide.jpg", "tall.jpg", "grey.jpg", "rgb.png", "rgba.png", "palette.png", "grey.png",
                           "grey_alpha.png", "bilevel.png", "rgb16.png"}) {
    const auto image = read_image(path(name));
    ASSERT_TRUE(image.ok()) << image.error().message;
    EXPECT_EQ(difference(*image, std::string(name) + ".rgb.npy"), 0) << name;
  }
}

// Reducing, enlarging, odd left-overs, a wide crop, a tall one, and the size of the original.
TEST(Image, IsPreparedAsTorchvisionDoes) {
  struct Case {
    const char* name;
    std::size_t width;
    std::size_t height;
  };
  for (const Case& c :
       {Case{"wide.jpg", 32, 32}, Case{"wide.jpg", 40, 24}, Case{"wide.jpg", 97, 61}, Case{"tall.jpg", 32, 32},
        Case{"tall.jpg", 17, 23}, Case{"rgb.png", 32, 32}, Case{"rgb.png", 64, 64}, Case{"rgb.png", 7, 7}}) {
    const std::string expected = std::string(c.name) + "." + std::to_string(c.width) + "x" + std::to_string(c.height);
    EXPECT_EQ(difference(prepared(*read_image(path(c.name)), c.width, c.height), expected + ".npy"), 0) << expected;
  }
}

TEST(Resize, KeepsWhatKeepsItsSize) {
  const Image image = *read_image(path("rgb.png"));
  const Size size{image.width, image.height};
  EXPECT_EQ(resized(image, size, {0, 0, image.width, image.height}).pixels, image.pixels);
}

TEST(Resize, ACropIsPartOfTheWhole) {
  const Image image = *read_image(path("wide.jpg"));
  const Image whole = resized(image, {40, 50}, {0, 0, 40, 50});
  const Image part = resized(image, {40, 50}, {7, 11, 20, 30});
  for (std::size_t y = 0; y < 30; ++y) {
    for (std::size_t i = 0; i < 20 * 3; ++i) {
      ASSERT_EQ(part.pixels[y * 60 + i], whole.pixels[(y + 11) * 120 + 21 + i]);
    }
  }
}

TEST(Resize, OneColourStaysThatColour) {
  const Image white{31, 17, std::vector<std::uint8_t>(31 * 17 * 3, 255)};
  for (const std::size_t side : {1u, 7u, 100u}) {
    EXPECT_THAT(resized(white, {side, side}, {0, 0, side, side}).pixels, testing::Each(255));
  }
}

TEST(Resize, SizesAndCornersAreTorchvisions) {
  const auto size = [](std::size_t w, std::size_t h) { return size_with_shorter_side({w, h}, 256); };
  EXPECT_EQ(size(500, 375).width, 341u);  // 256 * 500 / 375 = 341.3
  EXPECT_EQ(size(375, 501).height, 342u);
  EXPECT_EQ(size(10, 10).width, 256u);
  // Half of what is left over, halves to the even number: 16, 0.5 → 0, 1.5 → 2, 58.5 → 58.
  EXPECT_EQ(centre_crop({256, 256}, {224, 224}).left, 16u);
  EXPECT_EQ(centre_crop({225, 227}, {224, 224}).left, 0u);
  EXPECT_EQ(centre_crop({225, 227}, {224, 224}).top, 2u);
  EXPECT_EQ(centre_crop({341, 256}, {224, 224}).left, 58u);
}

TEST(Image, AStripDoesNotGrowWithItsLength) {
  const Image strip{60'000, 1, std::vector<std::uint8_t>(60'000 * 3, 9)};
  const Image out = prepared(strip, 32, 32);  // the whole would have 37 x 2,220,000 pixels
  EXPECT_THAT(out.pixels, testing::Each(9));
}

std::string refusal(std::span<const std::byte> bytes) {
  const auto image = decode_image(bytes);
  return image.ok() ? "accepted" : image.error().message;
}

std::vector<std::byte> with_size(const std::string& name, std::size_t offset, std::initializer_list<unsigned> bytes) {
  auto file = *read_file(path(name), 1 << 20);
  for (const unsigned byte : bytes) file[offset++] = static_cast<std::byte>(byte);
  return file;
}

TEST(Image, SaysWhatItCannotRead) {
  EXPECT_THAT(read_image(path("cmyk.jpg")).error().message, HasSubstr("cmyk.jpg' cannot be read: it is a CMYK image"));
  EXPECT_THAT(read_image(path("v1.npy")).error().message, HasSubstr("neither JPEG nor PNG"));
  EXPECT_THAT(refusal({}), HasSubstr("neither JPEG nor PNG"));
  auto cut = *read_file(path("wide.jpg"), 1 << 20);
  cut.resize(cut.size() / 2);
  EXPECT_THAT(refusal(cut), HasSubstr("Premature end"));
}

std::vector<std::byte> progressive(int side) {
  const std::vector<unsigned char> pixels(static_cast<std::size_t>(side) * static_cast<std::size_t>(side) * 3, 100);
  unsigned char* jpeg = nullptr;
  unsigned long size = 0;
  tjhandle handle = tjInitCompress();
  EXPECT_EQ(
      tjCompress2(handle, pixels.data(), side, 0, side, TJPF_RGB, &jpeg, &size, TJSAMP_444, 90, TJFLAG_PROGRESSIVE), 0);
  const auto* const first = reinterpret_cast<const std::byte*>(jpeg);
  std::vector<std::byte> file(first, first + size);
  tjFree(jpeg);
  tjDestroy(handle);
  return file;
}

// The last scan once more, so many times: each is gone through with all of the picture's coefficients.
std::vector<std::byte> with_more_scans(std::vector<std::byte> file, int more) {
  const std::array<std::byte, 2> begin{std::byte{0xFF}, std::byte{0xDA}};
  const auto last = std::find_end(file.begin(), file.end(), begin.begin(), begin.end());
  const std::vector<std::byte> scan(last, file.end() - 2);
  for (int i = 0; i < more; ++i) file.insert(file.end() - 2, scan.begin(), scan.end());
  return file;
}

TEST(Image, ProgressivePicturesWithManyScansAreRefused) {
  const auto file = progressive(64);
  EXPECT_TRUE(decode_image(file).ok()) << refusal(file);
  EXPECT_THAT(refusal(with_more_scans(file, 480)), HasSubstr("scans of 4096 pixels take too long to decode"));
}

// The checksum of each chunk, the pixels' and others'.
TEST(Image, RefusesAPngWithAnotherChecksum) {
  const auto file = *read_file(path("rgb.png"), 1 << 20);
  std::size_t chunks = 0;
  for (std::size_t at = 8; at + 12 <= file.size(); ++chunks) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8U | std::to_integer<std::size_t>(file[at + i]);
    at += size + 12;
    ASSERT_LE(at, file.size());
    auto damaged = file;
    damaged[at - 1] ^= std::byte{1};
    EXPECT_FALSE(decode_image(damaged).ok()) << chunks;
  }
  EXPECT_GE(chunks, 3u);
}

// The beginning of a PNG of that size, 8-bit RGB, with its right checksum.
std::vector<std::byte> png_header(std::uint32_t width, std::uint32_t height) {
  std::string text("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  const auto append = [&text](std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>((number >> shift) & 0xFF);
  };
  append(width);
  append(height);
  text += std::string("\x08\x02\0\0\0", 5);
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : text.substr(12)) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  append(~crc);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Image, RefusesBombsBeforeTakingMemory) {
  // wide.jpg's frame header: FF C0, length, precision, then height and width.
  const auto jpeg = *read_file(path("wide.jpg"), 1 << 20);
  const std::array marker{std::byte{0xFF}, std::byte{0xC0}};
  const auto frame = std::search(jpeg.begin(), jpeg.end(), marker.begin(), marker.end()) - jpeg.begin();
  const auto offset = static_cast<std::size_t>(frame) + 5;
  EXPECT_THAT(refusal(with_size("wide.jpg", offset, {0xFF, 0, 0xFF, 0})), HasSubstr("are too many"));
  EXPECT_THAT(refusal(with_size("wide.jpg", offset, {0x20, 0, 0x20, 0})), HasSubstr("8192 x 8192 pixels cannot be in"));
  EXPECT_THAT(refusal(png_header(1u << 20, 1u << 20)), HasSubstr("are too many"));
  EXPECT_THAT(refusal(png_header(2'000'000, 2)), HasSubstr("are too many"));
  EXPECT_THAT(refusal(png_header(1u << 14, 1u << 14)), HasSubstr("16384 x 16384 pixels cannot be in"));
}

// What viewers forgive is forgiven: bytes between the segments.
TEST(Image, ForgivesExtraneousBytes) {
  auto file = *read_file(path("wide.jpg"), 1 << 20);
  file.insert(file.end() - 2, 3, std::byte{0x11});
  const auto image = decode_image(file);
  ASSERT_TRUE(image.ok()) << image.error().message;
  EXPECT_EQ(difference(*image, "wide.jpg.rgb.npy"), 0);
}

}  // namespace
}  // namespace infermeter::image_test
