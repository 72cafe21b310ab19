#include "infermeter/importing/unpacked_file.hpp"

#include <fmt/format.h>

#include <span>

#include "infermeter/data/regular_file.hpp"
#include "infermeter/text/gzip.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
Result<std::string> read_unpacked(const std::string& path, std::uint64_t most) {
  INFERMETER_TRY(RegularFile file, RegularFile::open(path));
  if (file.remaining() > most) {
    return io_error(fmt::format("{} has {} bytes: at most {} are read", in_quotes(path), file.remaining(), most));
  }
  std::string bytes(static_cast<std::size_t>(file.remaining()), '\0');
  INFERMETER_TRY_DONE(file.read(std::as_writable_bytes(std::span(bytes))));
  if (!is_gzip(bytes)) return bytes;
  std::string unpacked;
  if (unpack_gzip(bytes, most, unpacked)) return unpacked;
  if (unpacked.size() > most)
    return io_error(fmt::format("{} unpacks to more than {} bytes: no more are read", in_quotes(path), most));
  return io_error(fmt::format("{} is packed by gzip and damaged", in_quotes(path)));
}

}  // namespace infermeter
