#include "infermeter/worker/kept_answer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "infermeter/text/whole_file.hpp"
#include "infermeter/worker/fake_trial.hpp"
#include "infermeter/worker/wire/wire.hpp"

namespace infermeter {
namespace {

namespace fs = std::filesystem;

// A plug-in and a runtime of its own, which can be changed.
class KeptAnswers : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    fs::create_directories(packages());
    fs::copy_file(fs::path(test::fake_folder) / "infermeter_backend_fake.so", plugin());
    std::ofstream(library()) << "a runtime";
    launcher_ = {.worker = test::worker_program, .plugin_folders = {root()}, .python_folders = {packages()}};
    info_.name = "fake";
    info_.library = library();
    info_.options = {{.key = "latency", .values = "TIME", .help = "{how}\n\nlong"}};
  }
  void TearDown() override {
    std::error_code error;
    fs::remove_all(root(), error);
  }

  [[nodiscard]] fs::path root() const { return folder_; }
  [[nodiscard]] fs::path packages() const { return root() / "site-packages"; }
  [[nodiscard]] fs::path plugin() const { return root() / "infermeter_backend_fake.so"; }
  [[nodiscard]] fs::path library() const { return root() / "libruntime.so"; }
  [[nodiscard]] fs::path cache() const { return root() / "cache"; }
  [[nodiscard]] KeptAnswer asked(Sandbox sandbox = Sandbox::automatic, const std::string& chosen = "") const {
    return {cache(), launcher_, {.name = "fake", .plugin = plugin(), .library = chosen, .sandbox = sandbox}};
  }
  [[nodiscard]] fs::path file() const { return fs::directory_iterator(cache() / "backends")->path(); }
  [[nodiscard]] std::string text() const { return whole_file(file()); }
  void write(const std::string& text) const { std::ofstream(file()) << text; }

  std::string folder_ = (fs::temp_directory_path() / "kept_answerXXXXXX").string();
  Launcher launcher_;
  BackendInfo info_;
};

TEST_F(KeptAnswers, AreWhatWasAnswered) {
  EXPECT_FALSE(asked().read().has_value());
  asked().keep(info_);
  ASSERT_TRUE(asked().read().has_value());
  EXPECT_EQ(backend_info_to_json(*asked().read()), backend_info_to_json(info_));
  EXPECT_FALSE(asked(Sandbox::strict).read().has_value());
  asked(Sandbox::strict).keep(info_);
  EXPECT_FALSE(asked(Sandbox::strict).read().has_value());
  EXPECT_FALSE(asked(Sandbox::automatic, "/another/library.so").read().has_value());
}

TEST_F(KeptAnswers, AreForgottenWhenWhatTheyDependOnChanges) {
  const auto is_forgotten_when = [&](auto change) {
    asked().keep(info_);
    EXPECT_TRUE(asked().read().has_value());
    change();
    return !asked().read().has_value();
  };
  EXPECT_TRUE(is_forgotten_when([&] { std::ofstream(library(), std::ios::app) << ", built again"; }));
  EXPECT_TRUE(is_forgotten_when([&] { std::ofstream(plugin(), std::ios::app) << "built again"; }));
  EXPECT_TRUE(is_forgotten_when([&] { fs::create_directory(packages() / "runtime-2.0.dist-info"); }));
  EXPECT_TRUE(is_forgotten_when([&] { launcher_.worker = plugin(); }));
  EXPECT_TRUE(is_forgotten_when([&] { launcher_.python_folders.clear(); }));
  EXPECT_TRUE(is_forgotten_when([&] { fs::remove(library()); }));
}

TEST_F(KeptAnswers, OfPythonDependOnItsModules) {
  const fs::path module = root() / "infermeter";
  fs::create_directories(module / "zoo");
  std::ofstream(module / "zoo/nets.py") << "width = 1\n";
  launcher_.python = "/usr/bin/python3";
  launcher_.python_package = module;
  const auto of_python = [&] {
    return KeptAnswer(cache(), launcher_,
                      {.name = "mine", .plugin = root() / "infermeter_backend_mine.py", .library = ""});
  };
  of_python().keep(info_);
  ASSERT_TRUE(of_python().read().has_value());
  std::ofstream(module / "zoo/nets.py", std::ios::app) << "height = 2\n";
  EXPECT_FALSE(of_python().read().has_value());
  of_python().keep(info_);
  launcher_.python = "/bin/sh";
  EXPECT_FALSE(of_python().read().has_value());
  of_python().keep(info_);
  std::ofstream(root() / "helper.py") << "beside the plug-in";
  EXPECT_FALSE(of_python().read().has_value());
}

TEST_F(KeptAnswers, ThatAreDamagedOrSomebodyElsesAreNotTaken) {
  asked().keep(info_);
  const std::string whole = text();
  for (const std::size_t size : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    write(whole.substr(0, size));
    EXPECT_FALSE(asked().read().has_value()) << size;
  }
  write(whole);
  ASSERT_TRUE(asked().read().has_value());
  fs::rename(file(), root() / "elsewhere");
  fs::create_symlink(root() / "elsewhere", cache() / "backends" / "0");
  EXPECT_FALSE(asked().read().has_value());
  fs::remove(cache() / "backends" / "0");
  asked().keep(info_);
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a file away";
  ASSERT_EQ(::chown(file().c_str(), 1, 1), 0);
  EXPECT_FALSE(asked().read().has_value());
}

TEST_F(KeptAnswers, AreNeverErrorsAndNeedAFolder) {
  BackendInfo failed = info_;
  failed.error = "its library is missing";
  asked().keep(failed);
  EXPECT_FALSE(fs::exists(cache()));
  std::ofstream(cache()) << "no folder";
  asked().keep(info_);
  EXPECT_FALSE(asked().read().has_value());
  const KeptAnswer nowhere({}, launcher_, {.name = "fake", .plugin = plugin(), .library = ""});
  nowhere.keep(info_);
  EXPECT_FALSE(nowhere.read().has_value());
}

// What is kept is changed, which shows who answers.
TEST_F(KeptAnswers, StandInForAWorker) {
  const ProbeOptions options{.cache = cache()};
  const BackendInfo first = probe_backend(launcher_, "fake", "", options);
  ASSERT_EQ(first.error, "");
  std::string changed = text();
  const std::string version = "\"runtime_version\":\"" + first.runtime_version;
  ASSERT_NE(changed.find(version), std::string::npos) << changed;
  write(changed.insert(changed.find(version) + version.size(), " as kept"));
  EXPECT_EQ(probe_backend(launcher_, "fake", "", options).runtime_version, first.runtime_version + " as kept");
  EXPECT_EQ(probe_backend(launcher_, "fake", "").runtime_version, first.runtime_version);
  std::ofstream(plugin(), std::ios::app) << "\n";
  EXPECT_EQ(probe_backend(launcher_, "fake", "", options).runtime_version, first.runtime_version);
}

}  // namespace
}  // namespace infermeter
