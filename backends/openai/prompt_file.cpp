#include "prompt_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "http/json_text.hpp"
#include "sdk/abi_edge.hpp"
#include "split_mix.hpp"

namespace infermeter {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse_file(const std::string& why) { fail(IMB_INVALID_ARGUMENT, why); }

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

std::string bytes_of(const std::string& path) {
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status{};
  if (file.number < 0 || fstat(file.number, &status) != 0)
    refuse_file(std::string("the file cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse_file("it is not a regular file");
  if (static_cast<std::uint64_t>(status.st_size) > largest_prompt_file) refuse_file("the file is larger than 1 GiB");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = read(file.number, text.data() + have, text.size() - have);
    if (got < 0 && errno != EINTR) refuse_file(std::string("the file cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

// --- an entry ------------------------------------------------------------------------------------------------------

const Json* field_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// Of a message: a text, or a list of parts that are texts.
std::string content_in(const Json& content, const std::string& where) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) refuse_file(where + " has a message without a text");
  std::string text;
  for (const Json& part : content) {
    const Json* const words = part.is_object() ? field_of(part, "text") : nullptr;
    if (words == nullptr || !words->is_string()) refuse_file(where + " has a message with a part that is not a text");
    text += (text.empty() ? "" : "\n") + words->get<std::string>();
  }
  return text;
}

struct Form {
  const char *list, *who, *what;
};
constexpr Form forms[] = {{"messages", "role", "content"}, {"conversations", "from", "value"}};

std::string first_question(const Json& list, const Form& form, const std::string& where) {
  if (!list.is_array()) refuse_file(where + " has " + form.list + " that are no list");
  std::string before;
  for (const Json& message : list) {
    const Json* const who = message.is_object() ? field_of(message, form.who) : nullptr;
    const Json* const what = message.is_object() ? field_of(message, form.what) : nullptr;
    if (who == nullptr || !who->is_string() || what == nullptr)
      refuse_file(where + " has a message without " + form.who + " or " + form.what);
    const auto& name = who->get_ref<const std::string&>();
    const bool asks = name == "user" || name == "human";
    if (!asks && name != "system") continue;
    std::string text = content_in(*what, where);
    before += (before.empty() || text.empty() ? "" : "\n\n") + text;
    if (asks) return before;
  }
  return {};
}

// Empty: nobody asks anything.
std::string prompt_in(const Json& entry, const std::string& where) {
  if (!entry.is_object()) refuse_file(where + " contains no object");
  if (const Json* const prompt = field_of(entry, "prompt")) {
    if (!prompt->is_string()) refuse_file(where + " has a prompt that is not a text");
    return prompt->get<std::string>();
  }
  for (const Form& form : forms)
    if (const Json* const list = field_of(entry, form.list)) return first_question(*list, form, where);
  refuse_file(where + " has neither prompt nor messages nor conversations");
}

void add_prompt(PromptFile& file, std::string prompt) {
  if (prompt.empty()) {
    ++file.left_out;
  } else {
    file.prompts.push_back(std::move(prompt));
  }
}

// --- the file ------------------------------------------------------------------------------------------------------

constexpr const char* blanks = " \t\r\n";

bool is_blank(std::string_view text) { return text.find_first_not_of(blanks) == std::string_view::npos; }

// Each entry is taken when it has been read, and not kept.
void take_array(PromptFile& file, std::string_view text) {
  std::size_t entry = 0;
  const auto take = [&](int depth, Json::parse_event_t event, Json& parsed) {
    using enum Json::parse_event_t;
    const auto where = [&] { return "entry " + std::to_string(entry + 1); };
    if (depth > deepest_json) refuse_file(where() + " is nested too deeply");
    if (depth != 1 || (event != object_end && event != array_end && event != value)) return true;
    add_prompt(file, prompt_in(parsed, where()));
    ++entry;
    return false;
  };
  try {
    const Json left = Json::parse(text, take);  // nothing
  } catch (const Json::exception&) {
    refuse_file("what stands behind entry " + std::to_string(entry) + " is not the JSON that it should be");
  }
}

void take_lines(PromptFile& file, std::string_view text, bool is_json) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.ends_with('\r')) one.remove_suffix(1);
    if (is_blank(one)) continue;
    const std::string where = "line " + std::to_string(line);
    if (is_json) {
      add_prompt(file, prompt_in(parse_bounded(one, where), where));
      continue;
    }
    try {
      static_cast<void>(Json(one).dump());
    } catch (const Json::exception&) {
      refuse_file(where + " is not UTF-8");
    }
    add_prompt(file, std::string(one));
  }
}

}  // namespace

PromptFile prompts_in(std::string_view text, bool is_json) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  PromptFile file;
  const std::size_t first = text.find_first_not_of(blanks);
  if (is_json && first != std::string_view::npos && text[first] == '[') {
    take_array(file, text);
  } else {
    take_lines(file, text, is_json);
  }
  if (file.prompts.empty()) refuse_file("there is no prompt in it");
  return file;
}

PromptFile read_prompt_file(const std::string& path) {
  try {
    return prompts_in(bytes_of(path), path.ends_with(".json") || path.ends_with(".jsonl"));
  } catch (const Failure& failure) {
    fail(IMB_INVALID_ARGUMENT, "prompts=" + path + ": " + failure.message);
  }
}

PromptOrder::PromptOrder(std::uint64_t seed, std::size_t count) : order_(count > 1 ? count - 1 : 1) {
  std::iota(order_.begin(), order_.end(), count > 1 ? 1U : 0U);
  Draws draws(Draws::mixed(Draws::mixed(seed) ^ (shuffle_stream << 62)));
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[draws.below(i)]);  // Fisher and Yates
}

}  // namespace infermeter
