#include "tests/fuzz/targets.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "infermeter/data/arrays/npy.hpp"
#include "infermeter/data/arrays/npz.hpp"
#include "infermeter/data/arrays/tensor_proto.hpp"
#include "infermeter/data/images/image.hpp"
#include "infermeter/data/value_block.hpp"
#include "infermeter/importing/read_report.hpp"
#include "infermeter/importing/times_file.hpp"
#include "infermeter/models/gguf/gguf_summary.hpp"
#include "infermeter/models/onnx/expose_outputs.hpp"
#include "infermeter/models/onnx/read_graph.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/plan/gate_file.hpp"
#include "infermeter/plan/plan_file.hpp"
#include "infermeter/plan/setting.hpp"
#include "infermeter/plan/study_file.hpp"
#include "infermeter/profile/read/imported_profile.hpp"
#include "infermeter/profile/read/profile_files.hpp"
#include "infermeter/profile/read/python_stacks.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/samples/profile_json.hpp"
#include "infermeter/samples/samples_json.hpp"
#include "infermeter/stacks/jit_names.hpp"
#include "infermeter/store/record_json.hpp"
#include "infermeter/trial/load/trace.hpp"
#include "infermeter/worker/wall/private_folder.hpp"
#include "infermeter/worker/wire/frames.hpp"
#include "infermeter/worker/wire/wire.hpp"
#include "tests/fuzz/server_answer.hpp"

namespace infermeter::fuzz {
namespace {

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// A result is either: an error has a sentence.
template <class T>
void look_at(const Result<T>& result) {
  if (!result.ok() && result.error().message.empty()) std::abort();
}

// For readers of files.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : bytes_(bytes) {}
  Result<Done> read(std::span<std::byte> out) override {
    if (out.size() > bytes_.size()) return io_error("the bytes end");
    std::copy_n(bytes_.begin(), out.size(), out.begin());
    bytes_ = bytes_.subspan(out.size());
    return Done{};
  }
  [[nodiscard]] std::uint64_t remaining() const override { return bytes_.size(); }

 private:
  Bytes bytes_;
};

void look_at_payload(std::string_view payload) {
  look_at(job_from_json(payload));
  look_at(ports_from_json(payload));
  look_at(backend_info_from_json(payload));
  look_at(samples_from_json(payload));
}

// What came through a worker's socket.
void look_at_frames(int socket) {
  FrameReader reader;
  for (bool open = true; open;) {
    const auto more = reader.read_some(socket);
    open = more.ok() && more.value();
    for (;;) {
      const auto frame = reader.next();
      look_at(frame);
      if (!frame.ok()) return;
      if (!frame.value()) break;
      look_at_payload(frame.value()->payload);
    }
  }
}

Samples timed_samples() {
  Samples trial;
  trial.begin_s = {0, 1, 2};
  trial.end_s = {0.5, 1.5, 2.5};
  return trial;
}

}  // namespace

void onnx(Bytes bytes) {
  if (bytes.empty()) return;
  const MemoryFile file(bytes);
  look_at(read_onnx_summary(file.path()));
  look_at(read_onnx_ports(file.path()));
  look_at(read_model_graph(file.path(), 2, {}));
  look_at(read_graph_bytes(text_of(bytes)));
}

void npy(Bytes bytes) {
  constexpr std::uint64_t most = 1 << 24;
  MemorySource whole(bytes), rows(bytes);
  look_at(read_npy(whole, "x.npy", {.bytes = most}));
  look_at(read_npy(rows, "x.npy", {.rows = 2, .bytes = most, .first_row = 1}));
}

void npz(Bytes bytes) {
  const MemoryFile file(bytes);
  const auto archive = NpzFile::open(file.path());
  look_at(archive);
  if (!archive.ok()) return;
  for (const std::string& name : archive->names()) {
    look_at(archive->header(name));
    look_at(archive->read(name, {.bytes = 1 << 24}));
  }
}

void image(Bytes bytes) {
  constexpr std::size_t most = 1 << 16;  // larger ones take long, and show no more
  if (bytes.size() <= most) look_at(decode_image(bytes));
}

void toml(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  PlanDraft gate, ambient;
  look_at(plan_from_toml(text, "plan.toml", {}));
  look_at(gate_file_from_toml(text, "gate.toml", gate));
  look_at(study_file_from_toml(text, "study.toml", "", {}));
  look_at(apply_toml(ambient, text, "infermeter.toml", TomlKind::ambient));
}

void profile(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  look_at(import_profile(text, nullptr));
  if (const auto format = format_of_times(text)) look_at(read_times(text, *format));
  const Samples trial = timed_samples();
  look_at(parse_onnxruntime_profile(text, nullptr, trial));
  look_at(parse_operators(text, trial));
  look_at(parse_torch_trace(text, trial));
  const ProfileFile python{.name = "cprofile.txt", .bytes = std::string(text)};
  look_at(read_python_stacks({&python, 1}));
}

void store(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  look_at(plan_from_json(text));
  look_at(environment_from_json(text));
  look_at(samples_from_json(text));
  look_at(models_from_json(text));
  look_at(diagnostics_from_json(text));
  look_at(comparison_from_json(text));
  look_at(accuracy_from_json(text));
  look_at(noise_from_json(text));
  look_at(strings_from_json(text));
  look_at(profile_from_json(text));
  look_at(stacks_from_json(text));
  look_at(peaks_from_json(text));
}

void report(Bytes bytes) { look_at(record_from_report(text_of(bytes))); }

void tensor(Bytes bytes) {
  for (const ProtoKind kind : {ProtoKind::tensor, ProtoKind::sequence, ProtoKind::optional})
    look_at(parse_value(bytes, kind, "x.pb"));
  look_at(parse_any_value(bytes, "x.pb"));
}

void frames(Bytes bytes) {
  look_at(read_block(bytes, nullptr));
  look_at_payload(text_of(bytes));  // a frame whose sum is wrong goes no further
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) std::abort();
  constexpr std::size_t most = 1U << 16U;  // that the socket holds
  const ssize_t sent = ::send(sockets[0], bytes.data(), std::min(bytes.size(), most), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::close(sockets[0]);
  if (sent >= 0) look_at_frames(sockets[1]);
  ::close(sockets[1]);
}

void expose(Bytes bytes) {
  static const auto folder = PrivateFolder::create();
  if (!folder.ok()) std::abort();
  const std::filesystem::path model = folder->path() / "model.onnx", copies = folder->path() / "copies";
  std::filesystem::create_directory(copies);
  std::ofstream(model, std::ios::binary) << text_of(bytes) << std::flush;
  ModelFacts facts;
  facts.name = "model.onnx";
  facts.path = model.string();
  facts.format = "onnx";
  look_at(expose_outputs(facts, copies));
}

void jit(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  const JitNames names(text);
  for (std::uint64_t address = 0; address < 16; ++address) {
    static_cast<void>(names.name_at(address << 4U));
    static_cast<void>(names.name_at(0x7f00'0000'0000U + (address << 8U)));
  }
}

void server(Bytes bytes) { read_server_answer(text_of(bytes)); }
void grpc(Bytes bytes) { read_grpc_answer(text_of(bytes)); }
void stream(Bytes bytes) { read_server_stream(text_of(bytes)); }
void http(Bytes bytes) { read_http_answer(text_of(bytes)); }
void prompts(Bytes bytes) { read_prompts(text_of(bytes)); }

void gguf(Bytes bytes) { look_at(read_gguf_summary(text_of(bytes), "x.gguf")); }

void trace(Bytes bytes) {
  const auto trace = read_trace(text_of(bytes));
  look_at(trace);
  if (!trace.ok()) return;
  if (!std::ranges::is_sorted(trace->times_s)) std::abort();
  if (!trace->lengths.empty() && trace->lengths.size() != trace->times_s.size()) std::abort();
}

}  // namespace infermeter::fuzz
