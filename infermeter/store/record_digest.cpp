#include "infermeter/store/record_digest.hpp"

#include <sqlite3.h>
#include <zlib.h>

#include <bit>
#include <cstdint>

namespace infermeter {
namespace {

uLong add_number(uLong sum, std::uint64_t number) {
  unsigned char bytes[8];
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(number & 0xffU);
    number >>= 8U;
  }
  return crc32_z(sum, bytes, sizeof bytes);
}

uLong add_bytes(uLong sum, const void* bytes, int size) {
  sum = add_number(sum, static_cast<std::uint64_t>(size));
  return size == 0 ? sum : crc32_z(sum, static_cast<const unsigned char*>(bytes), static_cast<std::size_t>(size));
}

uLong add_value(uLong sum, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  sum = add_number(sum, static_cast<std::uint64_t>(type));
  switch (type) {
    case SQLITE_INTEGER: return add_number(sum, static_cast<std::uint64_t>(sqlite3_value_int64(value)));
    // A column keeps -0.0 as 0.0.
    case SQLITE_FLOAT: return add_number(sum, std::bit_cast<std::uint64_t>(sqlite3_value_double(value) + 0.0));
    case SQLITE_TEXT: {
      const void* const text = sqlite3_value_text(value);
      return add_bytes(sum, text, sqlite3_value_bytes(value));
    }
    case SQLITE_BLOB: {
      const void* const blob = sqlite3_value_blob(value);
      return add_bytes(sum, blob, sqlite3_value_bytes(value));
    }
    default: return sum;
  }
}

void digest(sqlite3_context* context, int count, sqlite3_value** values) {
  uLong sum = crc32_z(0, nullptr, 0);
  for (int i = 0; i < count; ++i) sum = add_value(sum, values[i]);
  sqlite3_result_int64(context, static_cast<sqlite3_int64>(sum));
}

}  // namespace

bool add_digest_function(sqlite3* database) {
  constexpr int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  return sqlite3_create_function_v2(database, "digest", -1, flags, nullptr, digest, nullptr, nullptr, nullptr) ==
         SQLITE_OK;
}

}  // namespace infermeter
