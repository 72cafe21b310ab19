#include "completion_request.hpp"

#include <nlohmann/json.hpp>

namespace infermeter {

std::string path_of(Api api) { return api == Api::chat ? "/chat/completions" : "/completions"; }

std::string completion_body(const Settings& settings, std::string_view model, std::string_view prompt,
                            int output_tokens) {
  nlohmann::json body = {
      {"model", model}, {"max_tokens", output_tokens}, {"temperature", 0}, {"seed", 0}, {"stream", settings.stream}};
  if (settings.api == Api::chat) {
    body["messages"] = nlohmann::json::array({nlohmann::json{{"role", "user"}, {"content", prompt}}});
  } else {
    body["prompt"] = prompt;
  }
  if (settings.stream) body["stream_options"] = {{"include_usage", true}};
  if (settings.force_length) {
    body["ignore_eos"] = true;
    body["min_tokens"] = output_tokens;
  }
  try {
    return body.dump();
  } catch (const nlohmann::json::exception&) {
    fail(IMB_INVALID_ARGUMENT, "the prompt is not UTF-8, which JSON cannot carry");
  }
}

}  // namespace infermeter
