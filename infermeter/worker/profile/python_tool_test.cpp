// A module of the package, run by the Python of this machine: what it is given, and what becomes of how it ends. The
// package here is a folder of these tests' own.
#include "infermeter/worker/profile/python_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/worker/wall/private_folder.hpp"

namespace infermeter::python_tool_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PythonToolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "there is no /usr/bin/python3";
    std::filesystem::create_directory(folder_.path() / "package");
    launcher_.worker = test::worker_program;
    launcher_.python = "/usr/bin/python3";
    launcher_.python_package = folder_.path() / "package";
  }

  Result<std::string> run(const std::string& code, double timeout_s = 60) {
    std::ofstream(launcher_.python_package / "tool.py") << "import os, sys\n" << code;
    return run_python_tool(launcher_, {.module = "tool",
                                       .input = "what is given",
                                       .input_name = "run.json",
                                       .output_name = "plot.png",
                                       .arguments = {"--metric", "p50"},
                                       .timeout_s = timeout_s,
                                       .interrupt = &interrupt_});
  }
  std::string refusal(const std::string& code) {
    const auto made = run(code);
    return made.ok() ? "made: " + *made : made.error().message;
  }

  PrivateFolder folder_ = PrivateFolder::create().value();
  Launcher launcher_;
  std::atomic<int> interrupt_ = 0;
};

TEST_F(PythonToolTest, MakesAFileOutOfAText) {
  const auto made =
      run("open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read() + b'\\0' + sys.argv[4].encode())");
  EXPECT_EQ(made.value(), std::string("what is given\0p50", 17));
}

TEST_F(PythonToolTest, GivesItAFolderOfItsOwnAndNothingOfTheUsers) {
  setenv("PYTHONSTARTUP_SECRET", "1", 1);
  const auto made =
      run("open(sys.argv[2], 'w').write(' '.join([os.getcwd(), os.environ['HOME'], os.path.dirname(sys.argv[1]), "
          "str('PYTHONSTARTUP_SECRET' in os.environ)]))");
  const std::string text = made.value();
  const std::string own = text.substr(0, text.find(' '));
  EXPECT_FALSE(std::filesystem::exists(own));  // no more
  EXPECT_THAT(text, AllOf(HasSubstr(own + " " + own + " "), testing::EndsWith("False")));
}

TEST_F(PythonToolTest, TellsInOneSentenceWhyItRefuses) {
  const auto made =
      run("print('noise\\n', file=sys.stderr); print('matplotlib is missing', file=sys.stderr); sys.exit(78)");
  EXPECT_EQ(made.error().kind, ErrorKind::usage);
  EXPECT_EQ(made.error().message, "matplotlib is missing");
}

TEST_F(PythonToolTest, TellsHowItFailed) {
  EXPECT_EQ(refusal("raise ValueError('out of cheese')"),
            "tool failed: it ended with status 1; last line on stderr: ValueError: out of cheese");
  EXPECT_EQ(refusal("os.kill(os.getpid(), 9)"), "tool failed: it was ended by signal 9");
  EXPECT_EQ(refusal("pass"), "tool ended well but made no file");
  EXPECT_EQ(refusal("open(sys.argv[2], 'w')"), "tool ended well but made no file");
  EXPECT_EQ(run("sys.exit(3)").error().kind, ErrorKind::worker);
}

TEST_F(PythonToolTest, EndsWhatDoesNotEnd) {
  EXPECT_EQ(run("import time\nwhile True: time.sleep(9)", 0.5).error().message,
            "tool failed: it did not end within 0.5 s");
  interrupt_ = 1;
  EXPECT_EQ(refusal("import time\nwhile True: time.sleep(9)"), "tool failed: it was interrupted");
}

TEST_F(PythonToolTest, SaysWhatIsMissing) {
  launcher_.python = "/nowhere/python";
  EXPECT_THAT(refusal(""), HasSubstr("/nowhere/python cannot be executed; look at INFERMETER_PYTHON"));
  launcher_.python.clear();
  EXPECT_THAT(refusal(""), HasSubstr("tool runs in Python, and no Python was found; name one with INFERMETER_PYTHON"));
  launcher_.python_package.clear();
  EXPECT_THAT(run_python_tool(launcher_, {.module = "tool", .input_name = "a", .output_name = "b"}).error().message,
              HasSubstr("infermeter's Python module is not here"));
}

}  // namespace
}  // namespace infermeter::python_tool_test
