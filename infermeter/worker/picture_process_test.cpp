// Pictures decoded by a real worker, against this process.
#include "infermeter/worker/picture_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/data/images/image_data.hpp"
#include "infermeter/data/make_data.hpp"
#include "infermeter/worker/fake_trial.hpp"

namespace infermeter::picture_process_test {
namespace {

using fixtures::path;
using testing::HasSubstr;

OpenPictures workers(Sandbox sandbox = Sandbox::automatic) {
  return pictures_in_workers(test::fake_launcher(), sandbox, nullptr);
}

TEST(PictureProcess, GivesTheSamePixels) {
  for (const Sandbox sandbox : {Sandbox::automatic, Sandbox::off}) {
    const ReadPicture read = workers(sandbox)();
    for (const char* const name : {"rgb.png", "tall.jpg", "palette.png", "grey.jpg"}) {
      const auto image = read(path(name), 17, 23);
      ASSERT_TRUE(image.ok()) << image.error().message;
      EXPECT_EQ(image->width, 17u);
      EXPECT_EQ(image->height, 23u);
      EXPECT_EQ(image->pixels, prepared(*read_image(path(name)), 17, 23).pixels) << name;
    }
  }
}

TEST(PictureProcess, RefusesInTheSameWordsAndGoesOn) {
  const ReadPicture read = workers()();
  for (const char* const name : {"cmyk.jpg", "v1.npy", "nothing.png"})
    EXPECT_EQ(read(path(name), 8, 8).error().message, read_image(path(name)).error().message);
  EXPECT_TRUE(read(path("rgb.png"), 8, 8).ok());
}

TEST(PictureProcess, APictureThatTakesTooLongCostsItselfOnly) {
  const ReadPicture hurried =
      pictures_in_workers(test::fake_launcher(), Sandbox::automatic, nullptr, {.timeout_s = 0})();
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(hurried(path("rgb.png"), 8, 8).error().message,
                HasSubstr("rgb.png' cannot be read: decoding takes more than 0 s"));
}

TEST(PictureProcess, IsInterrupted) {
  const std::atomic<int> interrupt = 1;
  const ReadPicture read = pictures_in_workers(test::fake_launcher(), Sandbox::automatic, &interrupt)();
  EXPECT_THAT(read(path("rgb.png"), 8, 8).error().message, HasSubstr("stopped by a signal"));
}

TEST(PictureProcess, TheEndOfADecoderIsToldOfItsPicture) {
  Launcher launcher = test::fake_launcher();
  launcher.worker = "/bin/false";
  const ReadPicture ends = pictures_in_workers(launcher, Sandbox::automatic, nullptr)();
  EXPECT_THAT(ends(path("rgb.png"), 8, 8).error().message,
              HasSubstr("rgb.png' cannot be read: the decoder ended with status 1"));
  launcher.worker = "/nowhere/worker";
  const ReadPicture missing = pictures_in_workers(launcher, Sandbox::automatic, nullptr)();
  EXPECT_THAT(missing(path("rgb.png"), 8, 8).error().message, HasSubstr("/nowhere/worker"));
}

TEST(PictureProcess, DataSetsAreTheSameBytes) {
  const fixtures::Folder folder;
  for (const char* const name : {"rgb.png", "tall.jpg", "wide.jpg"}) folder.copy(name, name);
  const Port port{.name = "x", .dtype = DType::float32, .shape = {1, 3, 9, 7}};
  DataOptions options{.source = folder.string()};
  const auto here = make_data(options, std::span(&port, 1));
  options.open_pictures = workers();
  const auto there = make_data(options, std::span(&port, 1));
  ASSERT_TRUE(here.ok() && there.ok());
  ASSERT_EQ(there->items.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(
        std::ranges::equal(here->items[i].inputs[0].tensor.data.span(), there->items[i].inputs[0].tensor.data.span()));
}

// Without arguments it is the decoder, with them its supervisor.
TEST(PictureProcess, TheMemoryOfItsChildrenCounts) {
  const fixtures::Folder folder;
  Launcher launcher = test::fake_launcher();
  launcher.worker =
      folder.write("greedy", "#!/bin/sh\n[ $# -gt 0 ] && exec '" + launcher.worker.string() +
                                 "' \"$@\"\nhead -c 200000000 /dev/zero | tail -c 200000000 | sleep 60\n");
  std::filesystem::permissions(launcher.worker, std::filesystem::perms::owner_all);
  const ReadPicture read =
      pictures_in_workers(launcher, Sandbox::automatic, nullptr, {.memory_bytes = std::uint64_t{64} << 20U})();
  EXPECT_THAT(read(path("rgb.png"), 8, 8).error().message, HasSubstr("decoding takes more than 64 MiB of memory"));
}

// What a hostile decoder would send instead of a picture.
TEST(PictureProcess, AnAnswerThatIsNoneIsRefused) {
  const fixtures::Folder folder;
  Launcher launcher = test::fake_launcher();
  launcher.worker = folder.write("chatter", std::string("#!/bin/sh\nprintf 'not a frame of ours' >&3\nsleep 5\n"));
  std::filesystem::permissions(launcher.worker, std::filesystem::perms::owner_all);
  const ReadPicture read = pictures_in_workers(launcher, Sandbox::automatic, nullptr)();
  EXPECT_THAT(read(path("rgb.png"), 8, 8).error().message, HasSubstr("not a message of ours"));
}

}  // namespace
}  // namespace infermeter::picture_process_test
