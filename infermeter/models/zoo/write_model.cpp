#include "infermeter/models/zoo/write_model.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr int written_block_size = 1 << 20;
constexpr mode_t readable_by_all = 0644;

std::string prefix_of(const fs::path& file) { return file.filename().string() + ".part-"; }

Error cannot_write(const fs::path& file, int error) {
  return io_error(fmt::format("cannot write '{}': {}", file.string(), std::strerror(error)));
}

// Bytes in the same order every time: fields by number, no map is used by ONNX.
int serialise(const onnx::ModelProto& model, int descriptor) {
  google::protobuf::io::FileOutputStream stream(descriptor, written_block_size);
  bool complete = false;
  {
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    complete = model.SerializeToCodedStream(&coded);
  }
  if (stream.Flush() && complete) return 0;
  return stream.GetErrno() != 0 ? stream.GetErrno() : EIO;
}

int sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return error;
}

int write_and_sync(const onnx::ModelProto& model, int descriptor) {
  int error = serialise(model, descriptor);
  if (error == 0 && ::fchmod(descriptor, readable_by_all) != 0) error = errno;
  if (error == 0 && ::fsync(descriptor) != 0) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

Result<Done> fill_and_name(const onnx::ModelProto& model, int descriptor, const fs::path& part, const fs::path& file,
                           const std::function<Result<Done>(const fs::path&)>& check) {
  if (const int error = write_and_sync(model, descriptor); error != 0) return cannot_write(file, error);
  INFERMETER_TRY_DONE(check(part));
  if (::rename(part.c_str(), file.c_str()) != 0) return cannot_write(file, errno);
  if (const int error = sync_folder(part.parent_path()); error != 0) return cannot_write(file, error);
  return Done{};
}

}  // namespace

Result<Done> write_model(const onnx::ModelProto& model, const fs::path& file,
                         const std::function<Result<Done>(const fs::path&)>& check) {
  std::string part = (fs::absolute(file).parent_path() / (prefix_of(file) + "XXXXXX")).string();
  const int descriptor = ::mkostemp(part.data(), O_CLOEXEC);
  if (descriptor < 0) return cannot_write(file, errno);
  auto result = fill_and_name(model, descriptor, part, file, check);
  if (!result.ok()) ::unlink(part.c_str());
  return result;
}

void remove_leftovers(const fs::path& file) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(file.parent_path(), error)) {
    const bool is_leftover = entry.path().filename().string().starts_with(prefix_of(file));
    if (is_leftover) fs::remove(entry.path(), error);
  }
}

}  // namespace infermeter
