#include "infermeter/models/zoo/write_model.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <cerrno>

#include "infermeter/data/new_file.hpp"

namespace infermeter {
namespace {

constexpr int written_block_size = 1 << 20;

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

}  // namespace

Result<Done> write_model(const onnx::ModelProto& model, const std::filesystem::path& file,
                         const std::function<Result<Done>(const std::filesystem::path&)>& check) {
  INFERMETER_TRY(NewFile made, NewFile::beside(file));
  if (const int error = serialise(model, made.descriptor()); error != 0) return made.failed(error);
  INFERMETER_TRY_DONE(made.finish());
  INFERMETER_TRY_DONE(check(made.part()));
  return made.take_name(true);
}

}  // namespace infermeter
