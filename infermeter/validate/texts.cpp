#include "infermeter/validate/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "infermeter/models/gguf/gguf_summary.hpp"
#include "infermeter/models/resolve.hpp"
#include "infermeter/models/sha256.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/run/texts/tokenizer_key.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/worker/make_model.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMaker = "text_tokens";
constexpr std::int64_t kMostTextTokens = 1'000'000;

Result<Done> check_text(const ValidationRequest& request) {
  const DataRequest& data = request.plan.data;
  if (data.source != "synthetic" || !data.labels.empty())
    return usage_error("--text gives the data and the labels: leave --data and --labels out");
  if (request.perturb > 1) return usage_error("--perturb is for data of numbers: leave it out with --text");
  if (request.text_tokens < 2 || request.text_tokens > kMostTextTokens)
    return usage_error(
        fmt::format("--text-tokens: expected a number from 2 to {}, got {}", kMostTextTokens, request.text_tokens));
  std::error_code error;
  if (!fs::is_regular_file(request.text, error))
    return usage_error(fmt::format("--text: there is no file {}", in_quotes(request.text)));
  return Done{};
}

// The file of tokens that a model's tokenizer makes of the text.
Result<fs::path> tokens_of(const ValidationRequest& request, const Subject& subject, const RunContext& context) {
  INFERMETER_TRY(const ModelFacts model,
                 resolve_model(subject.model, context.cache,
                               {.allow_code = request.plan.allow_code, .interrupt = context.interrupt}));
  if (model.format != kFolderFormat && model.format != kGgufFormat)
    return usage_error(fmt::format(
        "--text needs a language model with its tokenizer, a folder with {} or a GGUF file, and {} is none: "
        "give tokens, --data tokens.npy --labels next",
        kFolderConfig, in_quotes(subject.model)));
  INFERMETER_TRY(const auto tokenizer, tokenizer_key(model, context.interrupt));
  const std::string read_by = tokenizer.value_or("none");
  INFERMETER_TRY(const std::string text, sha256_of_file(request.text, context.interrupt));
  const fs::path file = fs::absolute(context.cache) / "texts" /
                        fmt::format("{}-{}-{}", text.substr(0, 16), read_by.substr(0, 16), request.text_tokens) /
                        "tokens.npy";
  std::error_code error;
  if (fs::is_regular_file(file, error)) return file;
  const auto made = make_model(context.launcher,
                               {.maker = find_maker(context.launcher, kMaker),
                                .name = printable(subject.model, 120),
                                .model = model.path,
                                .options = {{"tokens", std::to_string(request.text_tokens)}},
                                .data = fs::absolute(request.text).string(),
                                .file = file},
                               {.sandbox = request.plan.sandbox, .interrupt = context.interrupt});
  if (made.ok()) return file;
  // Whatever it refuses was given by whoever asks: the text, its length, a folder without a tokenizer.
  return made.error().kind == ErrorKind::model ? usage_error(made.error().message) : made.error();
}

}  // namespace

Result<Done> use_text(ValidationRequest& request, const RunContext& context) {
  if (request.text.empty()) return Done{};
  INFERMETER_TRY_DONE(check_text(request));
  std::string digest;
  for (Subject& subject : request.plan.subjects) {
    INFERMETER_TRY(const fs::path file, tokens_of(request, subject, context));
    INFERMETER_TRY(const std::string own, sha256_of_file(file.string(), context.interrupt));
    if (!digest.empty() && own != digest)
      return usage_error(
          "--text: the tokenizers of the two models read the text differently, so that what they predict is not the "
          "same: perplexities per token cannot be compared");
    digest = own;
    request.plan.data.source = file.string();
    const bool says_output =
        std::ranges::find(subject.options, "output", &Pairs::value_type::first) != subject.options.end();
    if (!says_output) subject.options.emplace_back("output", "logits");
  }
  request.plan.data.labels = next_labels;
  if (request.plan.data.limit == 0) request.plan.data.limit = kUsualTexts;
  request.perturb = 0;
  return Done{};
}

}  // namespace infermeter
