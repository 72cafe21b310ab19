#include "cli/completion/shell_script.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace infermeter {
namespace {

// Bash breaks words at '=' and ':' as well, and before '@': the whole word is taken from the line, and what bash takes
// for done is cut off from the answers.
constexpr std::string_view kBash = R"(# bash completion for infermeter
_infermeter() {
  local line=${COMP_LINE:0:COMP_POINT} word open_part answer
  local -a words=()
  read -ra words <<<"$line"
  [[ $line == *[[:blank:]] ]] && words+=("")
  word=${words[-1]}
  open_part=${word##*[=:]}
  [[ $open_part != *@* ]] || open_part=@${open_part##*@}
  COMPREPLY=()
  while IFS= read -r answer; do
    [[ $answer != *[=@,] ]] || compopt -o nospace
    COMPREPLY+=("${answer#"${word%"$open_part"}"}")
  done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _infermeter infermeter
)";

constexpr std::string_view kZsh = R"(#compdef infermeter
_infermeter() {
  local answer
  local -a answers ended open
  answers=("${(@f)$("${words[1]}" complete --about -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for answer in "${answers[@]}"; do
    [[ -n $answer ]] || continue
    answer=${${answer//:/\\:}/$'\t'/:}
    [[ ${answer%%:*} == *[=@,] ]] && open+=("$answer") || ended+=("$answer")
  done
  if (( ${#open} + ${#ended} )); then
    (( ${#ended} )) && _describe infermeter ended
    (( ${#open} )) && _describe infermeter open -S ''
  else
    _files
  fi
}
if [[ ${funcstack[1]} == _infermeter ]]; then
  _infermeter "$@"
else
  compdef _infermeter infermeter
fi
)";

constexpr std::string_view kFish = R"(# fish completion for infermeter
complete -c infermeter -a '(set -l words (commandline -opc); infermeter complete --about -- $words[2..] (commandline -ct) 2>/dev/null)'
)";

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kScripts = {
    {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}};

}  // namespace

std::optional<std::string_view> completion_script(std::string_view shell) {
  const auto found = std::ranges::find(kScripts, shell, &std::pair<std::string_view, std::string_view>::first);
  if (found == kScripts.end()) return std::nullopt;
  return found->second;
}

}  // namespace infermeter
