// Message and field numbers: TensorBoard's compat/proto/event.proto and summary.proto. The file is a list of TFRecords:
// length, its masked CRC-32C, the event, its masked CRC-32C; little-endian.
#include "infermeter/report/forms/event_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <protozero/pbf_writer.hpp>
#include <vector>

namespace infermeter {
namespace {

using protozero::pbf_writer;

namespace event_tag {
constexpr protozero::pbf_tag_type wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace value_tag {
constexpr protozero::pbf_tag_type in_summary = 1, tag = 1, simple_value = 2, image = 4, histogram = 5;
}
namespace histogram_tag {
constexpr protozero::pbf_tag_type min = 1, max = 2, count = 3, sum = 4, sum_squares = 5, limits = 6, buckets = 7;
}
namespace image_tag {
constexpr protozero::pbf_tag_type height = 1, width = 2, colorspace = 3, bytes = 4;
constexpr std::int32_t rgba = 4;
}  // namespace image_tag

constexpr std::size_t bucket_count = 40;
constexpr std::string_view png_signature = "\x89PNG\r\n\x1a\n";

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0x82f63b78U : 0U);
    table[i] = rest;
  }
  return table;
}

std::string little_endian(std::uint64_t number, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>((number >> (8 * i)) & 0xffU);
  return bytes;
}

std::string masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return little_endian(static_cast<std::uint32_t>(((crc >> 15U) | (crc << 17U)) + 0xa282ead8U), 4);
}

std::int32_t big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char c : bytes.substr(0, 4)) number = (number << 8U) | static_cast<unsigned char>(c);
  return static_cast<std::int32_t>(number & 0x7fffffffU);
}

// Equally wide; the last one ends with the largest value.
struct Buckets {
  std::vector<double> limits, counts;
};

Buckets buckets_of(std::span<const double> values, double low, double high) {
  if (!(high > low)) return {{high}, {static_cast<double>(values.size())}};
  Buckets buckets;
  buckets.counts.resize(bucket_count);
  const double width = (high - low) / bucket_count;
  for (std::size_t i = 1; i < bucket_count; ++i) buckets.limits.push_back(low + width * static_cast<double>(i));
  buckets.limits.push_back(high);
  for (const double value : values) {
    const auto place = static_cast<std::size_t>((value - low) / width);
    buckets.counts[std::min(place, bucket_count - 1)] += 1;
  }
  return buckets;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = crc_table();
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xffU] ^ (crc >> 8U);
  return ~crc;
}

bool is_png(std::string_view bytes) {
  constexpr std::size_t up_to_size = 24;
  return bytes.size() >= up_to_size && bytes.starts_with(png_signature);
}

EventFile::EventFile(double wall_s) : wall_s_(wall_s) {
  std::string event;
  pbf_writer writer(event);
  writer.add_double(event_tag::wall_time, wall_s_);
  writer.add_string(event_tag::file_version, "brain.Event:2");
  add_record(event);
}

void EventFile::scalar(std::string_view tag, std::int64_t step, double value) {
  if (!std::isfinite(value)) return;
  std::string text;
  pbf_writer writer(text);
  writer.add_string(value_tag::tag, tag.data(), tag.size());
  writer.add_float(value_tag::simple_value, static_cast<float>(value));
  add_value(step, text);
}

void EventFile::histogram(std::string_view tag, std::int64_t step, std::span<const double> values) {
  if (values.empty() || !std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) return;
  const auto [low, high] = std::ranges::minmax(values);
  const Buckets buckets = buckets_of(values, low, high);
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  std::string text;
  pbf_writer writer(text);
  writer.add_string(value_tag::tag, tag.data(), tag.size());
  {
    pbf_writer histogram(writer, value_tag::histogram);
    histogram.add_double(histogram_tag::min, low);
    histogram.add_double(histogram_tag::max, high);
    histogram.add_double(histogram_tag::count, static_cast<double>(values.size()));
    histogram.add_double(histogram_tag::sum, sum);
    histogram.add_double(histogram_tag::sum_squares, squares);
    histogram.add_packed_double(histogram_tag::limits, buckets.limits.begin(), buckets.limits.end());
    histogram.add_packed_double(histogram_tag::buckets, buckets.counts.begin(), buckets.counts.end());
  }
  add_value(step, text);
}

void EventFile::picture(std::string_view tag, std::int64_t step, std::string_view png) {
  if (!is_png(png)) return;
  std::string text;
  pbf_writer writer(text);
  writer.add_string(value_tag::tag, tag.data(), tag.size());
  {
    constexpr std::size_t width_at = 16, height_at = 20;
    pbf_writer image(writer, value_tag::image);
    image.add_int32(image_tag::height, big_endian(png.substr(height_at)));
    image.add_int32(image_tag::width, big_endian(png.substr(width_at)));
    image.add_int32(image_tag::colorspace, image_tag::rgba);
    image.add_bytes(image_tag::bytes, png.data(), png.size());
  }
  add_value(step, text);
}

void EventFile::add_value(std::int64_t step, std::string_view value) {
  std::string summary, event;
  pbf_writer(summary).add_message(value_tag::in_summary, value.data(), value.size());
  pbf_writer writer(event);
  writer.add_double(event_tag::wall_time, wall_s_);
  writer.add_int64(event_tag::step, step);
  writer.add_message(event_tag::summary, summary);
  add_record(event);
}

void EventFile::add_record(std::string_view event) {
  const std::string length = little_endian(event.size(), 8);
  bytes_ += length + masked_crc(length);
  bytes_ += event;
  bytes_ += masked_crc(event);
}

}  // namespace infermeter
