// EventFile: a log that TensorBoard reads, events.out.tfevents.*: scalars, histograms and pictures by tag and step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace infermeter {

class EventFile {
 public:
  // `wall_s`: seconds since 1970, of the events that follow.
  explicit EventFile(double wall_s);

  void scalar(std::string_view tag, std::int64_t step, double value);
  // Of values that are finite; nothing where there are none.
  void histogram(std::string_view tag, std::int64_t step, std::span<const double> values);
  // A PNG file; nothing where it is none.
  void picture(std::string_view tag, std::int64_t step, std::string_view png);

  void set_wall_time(double wall_s) { wall_s_ = wall_s; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void add_record(std::string_view event);
  void add_value(std::int64_t step, std::string_view value);

  std::string bytes_;
  double wall_s_;
};

[[nodiscard]] bool is_png(std::string_view bytes);

// Castagnoli's polynomial, as the records of such a file are checked with. "123456789" has 0xe3069283.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

}  // namespace infermeter
