// infermeter completion: the script that a shell completes command lines by.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/completion/shell_script.hpp"
#include "cli/output/help.hpp"
#include "cli/verbs/verb.hpp"
#include "infermeter/text/nearest.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {

Action declare_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  set_help(app,
           {.usage = "infermeter completion bash|zsh|fish",
            .about = "Prints a script by which a shell completes verbs, flags, models of the zoo, back ends and "
                     "their options, and stored runs. `make install` installs the script where shells find it.",
            .examples = {{"infermeter completion bash", "For ~/.bashrc: eval \"$(infermeter completion bash)\"."},
                         {"infermeter completion zsh", "For the file _infermeter in a folder of zsh's fpath."},
                         {"infermeter completion fish", "For the file ~/.config/fish/completions/infermeter.fish."}},
            .notes = {}});
  app.add_option("SHELL", *shell, "bash, zsh or fish.")->required()->type_name("")->group("What");
  return [shell](Surroundings& world) -> Result<int> {
    const auto script = completion_script(*shell);
    if (!script)
      return usage_error(fmt::format("completion: there is no script for the shell '{}'{}; it can be bash, zsh or fish",
                                     printable(*shell), did_you_mean(*shell, {"bash", "zsh", "fish"})));
    world.out << *script;
    return 0;
  };
}

}  // namespace infermeter
