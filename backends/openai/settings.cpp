#include "settings.hpp"

namespace infermeter {
namespace {

using Text = std::string_view;

constexpr const char* length_forms = "N|uniform:LOW:HIGH|normal:MEAN:SD";

constexpr std::array<std::pair<Text, Api>, 2> apis = {{{"chat", Api::chat}, {"completions", Api::completions}}};

void take_prompts(Settings& settings, Text text) {
  settings.prompts = text == "synthetic" ? PromptSource::synthetic
                     : text == "data"    ? PromptSource::data
                                         : PromptSource::file;
  if (settings.prompts == PromptSource::file) settings.prompt_file = text;
}

}  // namespace

std::span<const OptionRow<Settings>> option_rows() {
  static const std::vector<OptionRow<Settings>> rows = rows_with_server<Settings>(
      "http://HOST:PORT/v1",
      {{{"api", "chat|completions", "POST to URL/chat/completions or URL/completions; default chat"},
        [](Settings& s, Text v) { s.api = parse_choice(v, apis); }},
       {{"stream", "true|false", "have answers sent token by token, which their times are known from; default true"},
        [](Settings& s, Text v) { s.stream = parse_bool(v); }},
       {{"prompts", "synthetic|data|FILE",
         "words at random, another prompt for each request; the data as an input; or those of a file (.txt, .jsonl, "
         ".json); default synthetic"},
        take_prompts},
       {{"prompt_tokens", length_forms, "words of a synthetic prompt, about a token each; default 128"},
        [](Settings& s, Text v) {
          s.prompt_tokens = Lengths::parse(v);
          s.of_synthetic = "prompt_tokens";
        }},
       {{"shared_prefix", "N", "the first words of a synthetic prompt that all prompts share; default 0"},
        [](Settings& s, Text v) {
          s.shared_prefix = parse_integer(v, 0, most_tokens);
          s.of_synthetic = "shared_prefix";
        }},
       {{"output_tokens", length_forms, "most tokens of an answer (max_tokens); default 64"},
        [](Settings& s, Text v) { s.output_tokens = Lengths::parse(v); }},
       {{"force_length", "true|false",
         "no fewer tokens either (ignore_eos, min_tokens: not every server has them); "
         "default false"},
        [](Settings& s, Text v) { s.force_length = parse_bool(v); }},
       {{"seed", "N", "of synthetic prompts; default: another one in each process, so that no cache has their answers"},
        [](Settings& s, Text v) { s.seed = parse_integer<std::uint64_t>(v, 0, UINT64_MAX); }}});
  return rows;
}

void check_together(const Settings& settings) {
  if (settings.shared_prefix > settings.prompt_tokens.mean())
    fail(IMB_INVALID_ARGUMENT, "a prompt of prompt_tokens=" + settings.prompt_tokens.in_words() +
                                   " cannot share shared_prefix=" + std::to_string(settings.shared_prefix));
  if (settings.prompts == PromptSource::file && !settings.of_synthetic.empty())
    fail(IMB_INVALID_ARGUMENT, "the prompts are those of a file: leave " + settings.of_synthetic + " out");
  if (settings.prompts == PromptSource::data && settings.output_tokens.vary())
    fail(IMB_INVALID_ARGUMENT,
         "prompts=data asks for answers of one length: give output_tokens=N, not " + settings.output_tokens.in_words());
}

}  // namespace infermeter
