#include "infermeter/text/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <climits>

namespace infermeter {
namespace {

constexpr std::string_view gzip_begin = "\x1f\x8b";
constexpr std::size_t step_bytes = std::size_t{1} << 20U;

class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK; }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // Until the end of the stream, of the bytes, or of what is allowed: false, there is more than that, or it is damaged.
  bool unpack(std::string_view packed, std::uint64_t most, std::string& bytes) {
    int state = ready_ ? Z_OK : Z_MEM_ERROR;
    std::string step(step_bytes, '\0');
    while (state == Z_OK && (!packed.empty() || stream_.avail_in > 0)) {
      if (stream_.avail_in == 0) {
        const std::size_t taken = std::min<std::size_t>(packed.size(), INT_MAX);
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
        stream_.avail_in = static_cast<uInt>(taken);
        packed.remove_prefix(taken);
      }
      stream_.next_out = reinterpret_cast<Bytef*>(step.data());
      stream_.avail_out = static_cast<uInt>(step.size());
      state = inflate(&stream_, Z_NO_FLUSH);
      bytes.append(step, 0, step.size() - stream_.avail_out);
      if (bytes.size() > most) return false;
      if (state == Z_BUF_ERROR) state = Z_OK;
    }
    return state == Z_OK || state == Z_STREAM_END;
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with(gzip_begin); }

bool unpack_gzip(std::string_view packed, std::uint64_t most, std::string& bytes) {
  return Inflater().unpack(packed, most, bytes);
}

}  // namespace infermeter
