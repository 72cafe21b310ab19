#include "infermeter/report/forms/base64.hpp"

#include <openssl/evp.h>

#include <limits>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {

std::string base64(std::string_view bytes) {
  // libcrypto counts in int; a page of two gigabytes would be no page.
  INFERMETER_CHECK(bytes.size() < std::numeric_limits<int>::max() / 2);
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // it ends its text with a NUL
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace infermeter
