#include "infermeter/run/texts/parting_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "infermeter/diagnostics/interrupt.hpp"
#include "infermeter/models/gguf/gguf_summary.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/run/texts/tokenizer_key.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utf8.hpp"
#include "infermeter/worker/make_model.hpp"
#include "infermeter/worker/wall/private_folder.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartingMaker = "parting_texts", kTokensOutput = "tokens";
constexpr double kPartingTimeout_s = 60;
constexpr std::size_t kTextsOfParting = 3;

std::string tokens_text(const std::vector<double>& tokens) { return fmt::format("{:.0f}", fmt::join(tokens, ",")); }

// "1,2|3|4;…", as the maker reads it.
std::string tokens_of(std::span<Parting* const> partings) {
  std::string text;
  for (const Parting* one : partings) {
    text += fmt::format("{}{}|{}|{}", text.empty() ? "" : ";", tokens_text(one->before), tokens_text(one->reference),
                        tokens_text(one->candidate));
  }
  return text;
}

// What the maker wrote, which has read a file from outside: three texts of each parting; empty: something else.
std::vector<std::string> read_texts(const fs::path& file, std::size_t partings) {
  std::string bytes(partings * kTextsOfParting * (kMostPartingText + 1) + 1, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  std::vector<std::string> texts;
  for (std::size_t end = 0; (end = bytes.find('\0')) != std::string::npos; bytes.erase(0, end + 1)) {
    texts.push_back(valid_utf8(std::string_view(bytes).substr(0, end)));
    if (texts.back().size() > kMostPartingText) return {};
  }
  return bytes.empty() && texts.size() == partings * kTextsOfParting ? texts : std::vector<std::string>();
}

class PartingReader {
 public:
  PartingReader(std::span<Parting* const> partings, Sandbox sandbox, const RunContext& context)
      : partings_(partings), sandbox_(sandbox), context_(context) {}

  // By the model's tokenizer, whose key that is; empty: it has none, or it cannot be used, which is said.
  [[nodiscard]] std::vector<std::string> operator()(const ModelFacts& model, const std::string& tokenizer) const {
    if (tokenizer.empty()) return {};
    const auto texts = texts_of(model);
    if (texts.ok()) return texts.value();
    if (context_.on_progress && look_at_interrupts(context_.interrupt) == 0) {
      Progress progress;
      progress.note = fmt::format("where answers part, tokens are shown by their numbers: {}", texts.error().message);
      context_.on_progress(progress);
    }
    return {};
  }

 private:
  [[nodiscard]] Result<std::vector<std::string>> texts_of(const ModelFacts& model) const {
    INFERMETER_TRY(const auto folder, PrivateFolder::create());
    const fs::path file = folder.path() / "made" / "texts";
    INFERMETER_TRY_DONE(
        make_model(context_.launcher,
                   {.maker = find_maker(context_.launcher, kPartingMaker),
                    .name = printable(model.name, 120),
                    .model = model.path,
                    .options = {{"tokens", tokens_of(partings_)}, {"most_bytes", std::to_string(kMostPartingText)}},
                    .file = file},
                   {.timeout_s = kPartingTimeout_s, .sandbox = sandbox_, .interrupt = context_.interrupt}));
    auto texts = read_texts(file, partings_.size());
    if (texts.empty())
      return model_error(fmt::format("{}: what its tokenizer wrote is no text", printable(model.name, 120)));
    return texts;
  }

  std::span<Parting* const> partings_;
  Sandbox sandbox_;
  const RunContext& context_;
};

// Which tokenizer a language model has; empty: none, or the model is none.
std::string tokenizer_of(const ModelFacts& model, const RunContext& context) {
  if (model.format != kFolderFormat && model.format != kGgufFormat) return {};
  const auto key = tokenizer_key(model, context.interrupt);
  return key.ok() ? key->value_or("") : std::string();
}

bool needs_texts(const OutputDifference& output) {
  return output.name == kTokensOutput && std::ranges::any_of(output.partings, [](const Parting& one) {
           return !one.reference_text && !one.candidate_text;
         });
}

}  // namespace

void add_parting_texts(std::span<OutputDifference> outputs, const ModelFacts& reference, const ModelFacts& candidate,
                       Sandbox sandbox, const RunContext& context) {
  std::vector<Parting*> partings;
  for (OutputDifference& output : outputs) {
    if (!needs_texts(output)) continue;
    for (Parting& one : output.partings) partings.push_back(&one);
  }
  if (partings.empty()) return;
  const std::string own = tokenizer_of(reference, context), others = tokenizer_of(candidate, context);
  const PartingReader read(partings, sandbox, context);
  const auto of_reference = read(reference, own);
  const auto of_candidate = own == others ? of_reference : read(candidate, others);
  for (std::size_t i = 0; i < partings.size(); ++i) {
    const std::size_t place = i * kTextsOfParting;
    if (!of_candidate.empty()) {
      partings[i]->before_text = of_candidate[place];
      partings[i]->candidate_text = of_candidate[place + 2];
    }
    if (of_reference.empty()) continue;
    partings[i]->before_text = of_reference[place];
    partings[i]->reference_text = of_reference[place + 1];
  }
}

Result<Done> add_parting_texts(Store& store, RunRecord& record, const RunContext& context) {
  for (SubjectOutputs& outputs : record.outputs) {
    if (std::ranges::none_of(outputs.comparison.outputs, needs_texts)) continue;
    const ModelFacts* const reference = model_of(record, outputs.reference);
    const ModelFacts* const candidate = model_of(record, outputs.subject);
    if (reference == nullptr || candidate == nullptr) continue;
    add_parting_texts(outputs.comparison.outputs, *reference, *candidate, record.plan.sandbox, context);
    if (std::ranges::none_of(outputs.comparison.outputs, needs_texts))
      INFERMETER_TRY_DONE(store.set_outputs(record.id, outputs));
  }
  return Done{};
}

}  // namespace infermeter
