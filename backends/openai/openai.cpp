// A language model on a server that speaks OpenAI's protocol: chat/completions and completions, streamed or not, over
// HTTP/1.1. Reads bottom-up: the table of slots is at the end.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "completion_answer.hpp"
#include "completion_request.hpp"
#include "http/http.hpp"
#include "http/json_text.hpp"
#include "http/place.hpp"
#include "http/request_queue.hpp"
#include "infermeter_backend.h"
#include "model_list.hpp"
#include "prompt_file.hpp"
#include "prompts.hpp"
#include "sdk/dimensions.hpp"
#include "sdk/port.hpp"
#include "settings.hpp"

using namespace infermeter;  // the ABI's struct tags are global names

struct imb_runtime {
  std::vector<imb_option> options = listed_options(option_rows());
  imb_runtime_info info{};
};

struct imb_session {
  Settings settings;
  HttpPlace place;
  std::string model, owner;
  std::uint64_t seed = 0;
  std::optional<Port> prompt;  // an input, where prompts are data
  Port text{{.name = "text", .dtype = IMB_STRING, .shape = {1}, .dimension_names = {""}}};
  PromptFile file{};  // where prompts are those of one
  PromptOrder order{};
  std::atomic<std::uint64_t> prompts_made = 0;

  std::mutex mutex;
  std::string transport, finish_reason;  // of the last answer
  bool counts_tokens = false;            // the server does, in the last answer
};

struct imb_request {
  explicit imb_request(imb_session& of_session)
      : session(of_session),
        exchange(make_exchange(session.place, path_of(session.settings.api))),
        streamed(session.settings.api) {
    if (session.settings.stream) exchange->set_sink(&streamed);
  }

  imb_session& session;
  const std::unique_ptr<HttpExchange> exchange;
  StreamedAnswer streamed;
  CompletionAnswer whole;  // of an answer in one piece
  std::string body;
  int asked_tokens = 0;               // max_tokens of the body
  bool has_body = false;              // it has not been sent yet, or may be sent again
  bool answered = false;              // since the last bind, and well
  std::optional<std::string> output;  // the text that is compared
  const char* output_text = nullptr;
  std::size_t output_size = 0;

  [[nodiscard]] const CompletionAnswer& answer() const { return session.settings.stream ? streamed.answer() : whole; }
};

namespace {

// --- runtime -------------------------------------------------------------------------------------------------------

constexpr const char* devices[] = {"server"};
constexpr const char* dtypes[] = {"float32"};
constexpr std::int64_t one_text[] = {1};

imb_status open_runtime(const imb_environment* /*environment*/, imb_runtime** runtime, imb_message message) {
  *runtime = nullptr;
  return guarded(message, IMB_LIBRARY_MISSING, [&] {
    start_libcurl();
    auto made = std::make_unique<imb_runtime>();
    made->info = {.struct_size = sizeof(imb_runtime_info),
                  .name = "openai",
                  .runtime_name = "OpenAI API",
                  .runtime_version = "v1",
                  .library = "",
                  .model_formats = "server",
                  .device_count = std::size(devices),
                  .devices = devices,
                  .dtype_count = std::size(dtypes),
                  .dtypes = dtypes,
                  .option_count = made->options.size(),
                  .options = made->options.data(),
                  .concurrent_requests = 0};
    *runtime = made.release();
  });
}

const imb_runtime_info* runtime_info(imb_runtime* runtime) { return &runtime->info; }
void close_runtime(imb_runtime* runtime) { delete runtime; }

// --- session -------------------------------------------------------------------------------------------------------

std::uint64_t seed_of_process() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

// Servers need not have a list of their models; one that has it knows the model.
void look_for_model(imb_session& session) {
  const auto exchange = make_exchange(session.place, "/models");
  exchange->start();
  exchange->finish();
  if (exchange->status() == 404 || exchange->status() == 405) return;
  if (exchange->status() != 200) fail(IMB_MODEL_ERROR, "asked for its models, " + refusal_in(*exchange));
  session.owner = owner_in(exchange->body(), session.model);
}

imb_status load_model(imb_runtime* /*runtime*/, const imb_load* load, imb_session** session, imb_message message) {
  *session = nullptr;
  return guarded(message, IMB_MODEL_ERROR, [&] {
    auto made = std::make_unique<imb_session>();
    made->settings = read_options(option_rows(), *load, "openai");
    check_together(made->settings);
    made->place = place_of(*load, made->settings.server, "openai");
    made->model = load->model_path;
    made->seed = made->settings.seed ? *made->settings.seed : seed_of_process();
    if (made->settings.prompts == PromptSource::data)
      made->prompt.emplace(PortFields{.name = "prompt", .dtype = IMB_STRING, .shape = {1}, .dimension_names = {""}});
    if (made->settings.prompts == PromptSource::file) {
      made->file = read_prompt_file(made->settings.prompt_file);
      made->order = PromptOrder(made->seed, made->file.prompts.size());
    }
    look_for_model(*made);
    *session = made.release();
  });
}

void close_session(imb_session* session) { delete session; }

std::size_t input_count(imb_session* session) { return session->prompt ? 1 : 0; }
std::size_t output_count(imb_session* /*session*/) { return 1; }
const imb_port* input(imb_session* session, std::size_t index) {
  return index < input_count(session) ? session->prompt->view() : nullptr;
}
const imb_port* output(imb_session* session, std::size_t index) { return index == 0 ? session->text.view() : nullptr; }

// --- request -------------------------------------------------------------------------------------------------------

void set_body(imb_request& request, std::string_view prompt, int output_tokens) {
  const imb_session& session = request.session;
  // A token takes a few hundred bytes as an event.
  constexpr std::size_t of_any_answer = std::size_t{1} << 20, of_a_token = 4096;
  request.exchange->set_limit(of_any_answer + of_a_token * static_cast<std::size_t>(output_tokens));
  request.body = completion_body(session.settings, session.model, prompt, output_tokens);
  request.asked_tokens = output_tokens;
  request.exchange->set_post(request.body,
                             {"Content-Type: application/json",
                              session.settings.stream ? "Accept: text/event-stream" : "Accept: application/json"});
  request.has_body = true;
}

// Otherwise they are data that the host binds.
bool makes_prompts(const imb_session& session) { return !session.prompt; }

// The first prompt of each request is the same for all, and its answer is the output: both have their mean length.
void make_first_prompt(imb_request& request) {
  const imb_session& session = request.session;
  const Settings& settings = session.settings;
  const bool has_file = settings.prompts == PromptSource::file;
  set_body(request,
           has_file ? session.file.prompts.front()
                    : synthetic_prompt(0, 0, settings.prompt_tokens.mean(), settings.shared_prefix),
           settings.output_tokens.mean());
}

// Of those that follow, synthetic ones have never been asked before.
void make_prompt(imb_request& request) {
  imb_session& session = request.session;
  const Settings& settings = session.settings;
  const std::uint64_t number = ++session.prompts_made;
  const int output_tokens = settings.output_tokens.drawn(session.seed, number, answer_stream, 1);
  if (settings.prompts == PromptSource::file)
    return set_body(request, session.file.prompts[session.order.at(number)], output_tokens);
  const int least = std::max(settings.shared_prefix, 1);
  const int words = settings.prompt_tokens.drawn(session.seed, number, prompt_stream, least);
  set_body(request, synthetic_prompt(session.seed, number, words, settings.shared_prefix), output_tokens);
}

imb_status create_request(imb_session* session, imb_request** request, imb_message message) {
  *request = nullptr;
  return guarded(message, IMB_RUN_ERROR, [&] {
    auto made = std::make_unique<imb_request>(*session);
    if (makes_prompts(*session)) make_first_prompt(*made);
    *request = made.release();
  });
}

void destroy_request(imb_request* request) { delete request; }

imb_status bind_input(imb_request* request, std::size_t index, const imb_value* value, imb_message message) {
  return guarded(message, IMB_INVALID_ARGUMENT, [&] {
    if (index >= input_count(&request->session))
      fail(IMB_INVALID_ARGUMENT, "the model has no input " + std::to_string(index));
    request->answered = request->has_body = false;
    request->output.reset();
    if (value->kind != IMB_TENSOR) fail(IMB_INVALID_ARGUMENT, "input 'prompt' needs a tensor");
    check_tensor(request->session.prompt->fields(), *value);
    if (value->data == nullptr || value->string_sizes == nullptr)
      fail(IMB_INVALID_ARGUMENT, "input 'prompt' was given no string");
    const char* const text = *static_cast<const char* const*>(value->data);
    const Settings& settings = request->session.settings;
    set_body(*request, {text, value->string_sizes[0]}, settings.output_tokens.mean());
  });
}

void start(imb_request& request, std::shared_ptr<HttpQueue> queue = nullptr) {
  if (!request.has_body) {
    if (!makes_prompts(request.session)) fail(IMB_INVALID_ARGUMENT, "input 'prompt' is not bound");
    make_prompt(request);
  }
  request.answered = false;
  if (request.session.settings.stream) request.streamed.begin();
  request.exchange->start(std::move(queue));
}

// Servers may ignore ignore_eos, and end an answer at the end of the context.
void check_forced_length(const imb_request& request) {
  const CompletionAnswer& answer = request.answer();
  if (!request.session.settings.force_length || answer.output_tokens < 0 ||
      answer.output_tokens >= request.asked_tokens)
    return;
  const std::string reason = answer.finish_reason.empty() ? "" : ", finish_reason " + shown(answer.finish_reason, 80);
  fail(IMB_BAD_ANSWER, "the server answered with " + std::to_string(answer.output_tokens) + " tokens, not the " +
                           std::to_string(request.asked_tokens) + " that force_length=true asks for (prompt of " +
                           (answer.prompt_tokens < 0 ? "unknown" : std::to_string(answer.prompt_tokens)) + " tokens" +
                           reason + "): give a shorter prompt, fewer output_tokens or force_length=false");
}

void finish(imb_request& request) {
  const imb_session& session = request.session;
  if (makes_prompts(session)) request.has_body = false;
  request.exchange->finish();
  if (request.exchange->status() != 200) refuse_status(*request.exchange);
  if (session.settings.stream) {
    request.streamed.end();
  } else {
    request.whole = answer_from(request.exchange->body(), session.settings.api);
  }
  check_forced_length(request);
  request.answered = true;
}

imb_status run(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    start(*request);
    finish(*request);
  });
}

imb_status submit(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] { start(*request); });
}

imb_status submit_to(imb_queue* queue, imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    request->exchange->owner = request;
    start(*request, queue->http);
  });
}

imb_status wait(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] { finish(*request); });
}

// --- answer --------------------------------------------------------------------------------------------------------

// Outside of the timed region. The output is the answer to the first prompt, and of data that to what is bound.
void look_at_answer(imb_request& request) {
  if (!request.answered) fail(IMB_INVALID_ARGUMENT, "there is no answer before an inference has succeeded");
  imb_session& session = request.session;
  const CompletionAnswer& answer = request.answer();
  if (!request.output || !makes_prompts(session)) request.output = answer.text;
  const std::lock_guard lock(session.mutex);
  session.transport = request.exchange->transport();
  session.finish_reason = answer.finish_reason;
  session.counts_tokens = answer.output_tokens >= 0;
}

imb_status output_value(imb_request* request, std::size_t index, imb_value* value, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (index != 0) fail(IMB_INVALID_ARGUMENT, "the model has no output " + std::to_string(index));
    if (!request->output || request->answered) look_at_answer(*request);
    request->output_text = request->output->c_str();
    request->output_size = request->output->size();
    *value = {.kind = IMB_TENSOR,
              .dtype = IMB_STRING,
              .rank = 1,
              .shape = one_text,
              .data = &request->output_text,
              .size_bytes = 0,
              .string_sizes = &request->output_size,
              .element_count = 0,
              .elements = nullptr};
  });
}

imb_status parts(imb_request* request, imb_parts* parts, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (!request->answered) fail(IMB_INVALID_ARGUMENT, "there is no answer before an inference has succeeded");
    const CompletionAnswer& answer = request->answer();
    *parts = {.struct_size = parts->struct_size,
              .part_count = answer.moments_ns.size(),
              .moments_ns = answer.moments_ns.data(),
              .output_tokens = answer.output_tokens,
              .prompt_tokens = answer.prompt_tokens};
  });
}

// The next prompt is made outside of the timed region.
imb_status between(imb_request* request, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    if (request->answered) look_at_answer(*request);
    if (makes_prompts(request->session) && !request->has_body) make_prompt(*request);
  });
}

// --- facts ---------------------------------------------------------------------------------------------------------

std::string prompts_in_words(const imb_session& session) {
  const Settings& settings = session.settings;
  if (!makes_prompts(session)) return "data";
  if (settings.prompts == PromptSource::file) {
    const PromptFile& file = session.file;
    std::string text = "file, " + std::to_string(file.prompts.size()) + " of them";
    if (file.left_out > 0) text += ", " + std::to_string(file.left_out) + " entries without one left out";
    return text;
  }
  std::string text = "synthetic, " + settings.prompt_tokens.in_words() + " words";
  if (settings.shared_prefix > 0) text += ", " + std::to_string(settings.shared_prefix) + " of them shared";
  return text;
}

imb_status executed(imb_session* session, imb_pair_sink sink, void* user, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    const std::lock_guard lock(session->mutex);
    const auto tell = [&](const char* name, const std::string& value) {
      if (!value.empty()) sink(user, name, value.c_str());
    };
    const Settings& settings = session->settings;
    tell("dtype", "unknown");
    tell("dtype_from", "model");
    tell("device", "server");
    tell("provider", session->owner.empty() ? "unknown" : session->owner);
    tell("transport", session->transport);
    tell("api", settings.api == Api::chat ? "chat" : "completions");
    tell("stream", settings.stream ? "true" : "false");
    tell("prompts", prompts_in_words(*session));
    tell("prompts_in_file", session->file.prompts.empty() ? "" : std::to_string(session->file.prompts.size()));
    tell("prompt_seed", makes_prompts(*session) ? std::to_string(session->seed) : "");
    tell("max_tokens", settings.output_tokens.in_words());
    tell("force_length", settings.force_length ? "true" : "false");
    tell("sampling", "greedy (temperature 0)");
    tell("finish_reason", session->finish_reason);
    tell("tokens_counted_by", session->counts_tokens ? "server" : settings.stream ? "pieces of the stream" : "nobody");
    tell("client", std::string("libcurl ") + curl_version_info(CURLVERSION_NOW)->version);
  });
}

// The prompt that `between` has made is let go.
imb_status lengths(imb_request* request, std::int64_t prompt_tokens, std::int64_t output_tokens, imb_message message) {
  return guarded(message, IMB_RUN_ERROR, [&] {
    imb_session& session = request->session;
    const Settings& settings = session.settings;
    if (settings.prompts != PromptSource::synthetic)
      fail(IMB_UNSUPPORTED, "the prompts are those of a file or of the data");
    const auto bounded = [](std::int64_t tokens) {
      return static_cast<int>(std::clamp<std::int64_t>(tokens, 1, most_tokens));
    };
    set_body(*request,
             synthetic_prompt(session.seed, ++session.prompts_made, bounded(prompt_tokens), settings.shared_prefix),
             bounded(output_tokens));
  });
}

constexpr imb_queue_slots queues = {
    .create = create_queue, .destroy = destroy_queue, .submit = submit_to, .next_ended = next_ended};

constexpr imb_backend backend = {
    .abi_version = IMB_ABI_VERSION,
    .struct_size = sizeof(imb_backend),
    .open_runtime = open_runtime,
    .runtime_info = runtime_info,
    .close_runtime = close_runtime,
    .load = load_model,
    .compile = nullptr,
    .close = close_session,
    .input_count = input_count,
    .output_count = output_count,
    .input = input,
    .output = output,
    .create_request = create_request,
    .destroy_request = destroy_request,
    .bind_input = bind_input,
    .run = run,
    .output_value = output_value,
    .submit = submit,
    .wait = wait,
    .synchronize = nullptr,
    .executed = executed,
    .device_memory = nullptr,
    .counters = nullptr,
    .profile_begin = nullptr,
    .profile_end = nullptr,
    .between = between,
    .parts = parts,
    .lengths = lengths,
    .queues = &queues,
};

}  // namespace

extern "C" {
std::uint32_t infermeter_backend_abi_version(void) { return IMB_ABI_VERSION; }
const imb_backend* infermeter_backend(void) { return &backend; }
}
