// The plug-in that this run is about, and owners for what it hands out.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infermeter_backend.h"

namespace infermeter {

struct BackendUnderTest {
  std::string plugin, model;
  std::vector<std::string> python_folders;
  std::map<std::string, std::string> options;  // that the model needs to be loaded
  std::string device = "cpu";                  // of a back end that measures servers "server"
  std::uint32_t abi_version = 0;
  const imb_backend* table = nullptr;
  // What opening comes to where the Python environment is elsewhere; tried in a process that had nothing loaded yet.
  std::string without_python;
};
// Set by main before the tests run.
[[nodiscard]] BackendUnderTest& under_test();

// A buffer for messages with canaries on both sides.
class Message {
 public:
  explicit Message(std::size_t capacity = 2048) : bytes_(capacity + 2, canary), capacity_(capacity) {}
  [[nodiscard]] imb_message view() { return {bytes_.data() + 1, capacity_}; }
  [[nodiscard]] bool intact() const { return bytes_.front() == canary && bytes_.back() == canary; }
  [[nodiscard]] bool terminated() const { return bytes_.find('\0', 1) <= capacity_; }
  [[nodiscard]] std::string text() const { return bytes_.c_str() + 1; }

 private:
  static constexpr char canary = '#';
  std::string bytes_;
  std::size_t capacity_;
};

struct RuntimeDeleter {
  void operator()(imb_runtime* runtime) const { under_test().table->close_runtime(runtime); }
};
struct SessionDeleter {
  void operator()(imb_session* session) const { under_test().table->close(session); }
};
struct RequestDeleter {
  void operator()(imb_request* request) const { under_test().table->destroy_request(request); }
};
using Runtime = std::unique_ptr<imb_runtime, RuntimeDeleter>;
using Session = std::unique_ptr<imb_session, SessionDeleter>;
using Request = std::unique_ptr<imb_request, RequestDeleter>;

// What a call came to.
template <class T>
struct Outcome {
  imb_status status = IMB_OK;
  std::string message;
  T value;
};

[[nodiscard]] Outcome<Runtime> open_runtime(const std::string& library = "");

struct LoadRequest {
  std::string model = under_test().model;
  std::string device = under_test().device;
  std::string dtype = "float32";
  int threads = 1;
  std::int64_t batch = 2;
  std::map<std::string, std::string> dimensions = {};
  std::map<std::string, std::string> options = under_test().options;
  bool compile = true;
  std::string profile_folder = "";  // empty: operators are not profiled
};
[[nodiscard]] Outcome<Session> load(const Runtime& runtime, const LoadRequest& request = {});
[[nodiscard]] Outcome<Request> create_request(const Session& session);

// A tensor of bytes for an input, and what is needed to see it as an imb_value.
struct Input {
  imb_dtype dtype = IMB_FLOAT32;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  [[nodiscard]] imb_value view() const;
};
// Values that depend on `seed`; dynamic dimensions become `batch`.
[[nodiscard]] Input make_input(const imb_port& port, unsigned seed, std::int64_t batch = 2);
[[nodiscard]] Outcome<int> bind_input(const Request& request, std::size_t index, const imb_value& value);
[[nodiscard]] Outcome<int> run(const Request& request);
// The first output; empty if there is none.
[[nodiscard]] Outcome<std::vector<float>> first_output(const Request& request);

// Skips a test where the runtime's library is not installed; otherwise has it open.
class BackendTest : public testing::Test {
 protected:
  void SetUp() override;
  [[nodiscard]] const imb_backend& table() const { return *under_test().table; }
  [[nodiscard]] const imb_runtime_info& info() const { return *table().runtime_info(runtime_.get()); }
  [[nodiscard]] bool reads_models() const {
    const std::string_view formats = info().model_formats;
    return formats != "*" && formats != "server" && !formats.starts_with("workload:");
  }
  // Loaded, with an input bound.
  struct Ready {
    Session session;
    Input input;
    Request request;
  };
  [[nodiscard]] Ready make_ready(unsigned seed = 1, const LoadRequest& request = {}) const;

  Runtime runtime_;
};

}  // namespace infermeter
