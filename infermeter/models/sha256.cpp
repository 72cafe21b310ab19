#include "infermeter/models/sha256.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "infermeter/diagnostics/interrupt.hpp"

namespace infermeter {
namespace {

constexpr std::size_t hashed_block_size = std::size_t{1} << 20;

Error cannot_hash(const std::filesystem::path& file) {
  return io_error(fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
}

std::string hex(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

using Context = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)>;

Context begin() {
  Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  INFERMETER_CHECK(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  return context;
}

void update(const Context& context, const void* bytes, std::size_t size) {
  INFERMETER_CHECK(EVP_DigestUpdate(context.get(), bytes, size) == 1);
}

std::string finish(const Context& context) {
  std::array<unsigned char, 32> digest{};
  INFERMETER_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
  return hex(digest);
}

}  // namespace

std::string sha256_of_text(std::string_view text) {
  const Context context = begin();
  update(context, text.data(), text.size());
  return finish(context);
}

Result<std::string> sha256_of_file(const std::filesystem::path& file, const std::atomic<int>* interrupt) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return cannot_hash(file);
  const std::unique_ptr<const int, void (*)(const int*)> close_at_end(&descriptor, [](const int* d) { ::close(*d); });
  const Context context = begin();
  std::vector<std::byte> block(hashed_block_size);
  for (;;) {
    const ssize_t got = ::read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_hash(file);
    if (got == 0) break;
    if (look_at_interrupts(interrupt) != 0) return worker_error("interrupted while a model's file was read");
    update(context, block.data(), static_cast<std::size_t>(got));
  }
  return finish(context);
}

}  // namespace infermeter
