#include "backend_under_test.hpp"

#include <random>

namespace infermeter {
namespace {

std::vector<imb_pair> pairs_from(const std::map<std::string, std::string>& values) {
  std::vector<imb_pair> pairs;
  for (const auto& [key, value] : values) pairs.push_back({key.c_str(), value.c_str()});
  return pairs;
}

template <class T>
void expect_consistent(imb_status status, const Message& message, const T* made) {
  EXPECT_TRUE(message.intact() && message.terminated());
  EXPECT_EQ(made == nullptr, status != IMB_OK);
  if (status == IMB_OK) return;
  EXPECT_FALSE(message.text().empty());
  EXPECT_EQ(message.text().find('\n'), std::string::npos) << message.text();
}

}  // namespace

BackendUnderTest& under_test() {
  static BackendUnderTest instance;
  return instance;
}

Outcome<Runtime> open_runtime(const std::string& library) {
  std::vector<const char*> folders;
  for (const std::string& folder : under_test().python_folders) folders.push_back(folder.c_str());
  const imb_environment environment{sizeof(imb_environment), library.empty() ? nullptr : library.c_str(),
                                    folders.size(), folders.data(), nullptr};
  Message message;
  imb_runtime* runtime = nullptr;
  const imb_status status = under_test().table->open_runtime(&environment, &runtime, message.view());
  expect_consistent(status, message, runtime);
  return {status, message.text(), Runtime(runtime)};
}

Outcome<Session> load(const Runtime& runtime, const LoadRequest& request) {
  const imb_backend& table = *under_test().table;
  const auto dimensions = pairs_from(request.dimensions), options = pairs_from(request.options);
  const imb_load what{.struct_size = sizeof(imb_load),
                      .model_path = request.model.c_str(),
                      .device = request.device.c_str(),
                      .dtype = request.dtype.c_str(),
                      .threads = request.threads,
                      .batch = request.batch,
                      .dimension_count = dimensions.size(),
                      .dimensions = dimensions.data(),
                      .option_count = options.size(),
                      .options = options.data(),
                      .model_base_folder = nullptr,
                      .zoo_name = nullptr,
                      .profile_folder = request.profile_folder.empty() ? nullptr : request.profile_folder.c_str(),
                      .cache_folder = nullptr,
                      .preparing = 0,
                      .batch_axes = nullptr,
                      .batch_axes_user = nullptr,
                      .data_shape = nullptr,
                      .server_addresses = nullptr,
                      .server_token = nullptr};
  Message message;
  imb_session* session = nullptr;
  imb_status status = table.load(runtime.get(), &what, &session, message.view());
  expect_consistent(status, message, session);
  Session owner(session);
  if (status != IMB_OK || !request.compile || table.compile == nullptr)
    return {status, message.text(), std::move(owner)};
  status = table.compile(session, message.view());
  if (status != IMB_OK) owner.reset();
  return {status, message.text(), std::move(owner)};
}

Outcome<Request> create_request(const Session& session) {
  Message message;
  imb_request* request = nullptr;
  const imb_status status = under_test().table->create_request(session.get(), &request, message.view());
  expect_consistent(status, message, request);
  return {status, message.text(), Request(request)};
}

imb_value Input::view() const {
  imb_value value{};
  value.kind = IMB_TENSOR;
  value.dtype = dtype;
  value.rank = shape.size();
  value.shape = shape.data();
  value.data = values.data();
  value.size_bytes = values.size() * sizeof(float);
  return value;
}

Input make_input(const imb_port& port, unsigned seed, std::int64_t batch) {
  Input input{.shape = {port.shape, port.shape + port.rank}, .values = {}};
  std::size_t count = 1;
  for (std::int64_t& dimension : input.shape) {
    if (dimension < 0) dimension = batch;
    count *= static_cast<std::size_t>(dimension);
  }
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    input.values.push_back(static_cast<float>(random() % 2001) / 1000.0f - 1.0f);
  }
  return input;
}

Outcome<int> bind_input(const Request& request, std::size_t index, const imb_value& value) {
  Message message;
  const imb_status status = under_test().table->bind_input(request.get(), index, &value, message.view());
  return {status, message.text(), 0};
}

Outcome<int> run(const Request& request) {
  Message message;
  const imb_status status = under_test().table->run(request.get(), message.view());
  return {status, message.text(), 0};
}

Outcome<std::vector<float>> first_output(const Request& request) {
  Message message;
  imb_value value{};
  const imb_status status = under_test().table->output_value(request.get(), 0, &value, message.view());
  if (status != IMB_OK) return {status, message.text(), {}};
  const auto* floats = static_cast<const float*>(value.data);
  return {status, "", {floats, floats + value.size_bytes / sizeof(float)}};
}

void BackendTest::SetUp() {
  auto opened = open_runtime();
  if (opened.status == IMB_LIBRARY_MISSING) GTEST_SKIP() << opened.message;
  ASSERT_EQ(opened.status, IMB_OK) << opened.message;
  runtime_ = std::move(opened.value);
  if (std::string_view(info().model_formats) == "server") under_test().device = "server";
}

BackendTest::Ready BackendTest::make_ready(unsigned seed, const LoadRequest& request) const {
  Ready ready;
  auto loaded = load(runtime_, request);
  EXPECT_EQ(loaded.status, IMB_OK) << loaded.message;
  ready.session = std::move(loaded.value);
  ready.input = make_input(*table().input(ready.session.get(), 0), seed);
  auto created = create_request(ready.session);
  EXPECT_EQ(created.status, IMB_OK) << created.message;
  ready.request = std::move(created.value);
  const auto bound = bind_input(ready.request, 0, ready.input.view());
  EXPECT_EQ(bound.status, IMB_OK) << bound.message;
  return ready;
}

}  // namespace infermeter
