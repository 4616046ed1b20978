#include "tests/campaign/browser.h"

#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay::testing {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int answer_ms = 60'000; // a loaded machine starts a browser slowly

std::string decoded(const std::string& base64) {
  std::string out;
  unsigned bits = 0;
  int held = 0;
  for (const char c : base64) {
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (value < 0) break;
    bits = bits << 6 | static_cast<unsigned>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xff);
  }
  return out;
}

} // namespace

std::optional<fs::path> Browser::find() {
  std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"chromium", "google-chrome", "chromium-browser"})
      if (::access((fs::path(folder) / name).c_str(), X_OK) == 0) return fs::path(folder) / name;
  return std::nullopt;
}

Browser::Browser(const fs::path& program, const fs::path& page) {
  std::array<int, 2> commands{}, answers{};
  EXPECT_EQ(::pipe2(commands.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(answers.data(), O_CLOEXEC), 0);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);
    const int in = ::fcntl(commands[0], F_DUPFD, 10), out = ::fcntl(answers[1], F_DUPFD, 10);
    ::dup2(in, 3); // where the browser looks for them
    ::dup2(out, 4);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int file : {0, 1, 2}) ::dup2(nothing, file);
    ::execl(program.c_str(), program.c_str(), "--headless=new", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
            "--remote-debugging-pipe", nullptr);
    ::_exit(127);
  }
  ::close(commands[0]);
  ::close(answers[1]);
  to_ = commands[1];
  from_ = answers[0];
  const json target = call("Target.createTarget", {{"url", "about:blank"}});
  const json session =
      call("Target.attachToTarget", {{"targetId", target.value("targetId", "")}, {"flatten", true}});
  session_ = session.value("sessionId", "");
  call("Page.enable", json::object());
  call("Page.navigate", {{"url", "file://" + fs::absolute(page).string()}});
  for (int wait = 0; wait < 300 && evaluate("document.readyState + location.protocol") != "completefile:";
       ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

Browser::~Browser() {
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string Browser::read_message() {
  for (;;) {
    if (const std::size_t end = unread_.find('\0'); end != std::string::npos) {
      std::string message = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return message;
    }
    pollfd file{from_, POLLIN, 0};
    if (::poll(&file, 1, answer_ms) != 1) return "";
    char block[65536];
    const ssize_t size = ::read(from_, block, sizeof block);
    if (size <= 0) return "";
    unread_.append(block, static_cast<std::size_t>(size));
  }
}

json Browser::call(const std::string& method, const json& parameters) {
  json message = {{"id", ++next_id_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump() + '\0';
  EXPECT_EQ(::write(to_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  for (;;) {
    const std::string said = read_message();
    if (said.empty()) {
      ADD_FAILURE() << "the browser does not answer " << method;
      return json::object();
    }
    const json answer = json::parse(said, nullptr, false);
    if (answer.is_discarded() || answer.value("id", 0) != next_id_) continue; // an event
    EXPECT_FALSE(answer.contains("error")) << method << ": " << said;
    return answer.value("result", json::object());
  }
}

void Browser::resize(int width, int height, bool phone) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", phone ? 2 : 1}, {"mobile", phone}});
}

json Browser::evaluate(const std::string& script) {
  const json result = call("Runtime.evaluate", {{"expression", script}, {"returnByValue", true}});
  EXPECT_FALSE(result.contains("exceptionDetails")) << script << ": " << result.dump();
  return result.contains("result") ? result["result"].value("value", json()) : json();
}

void Browser::click(const std::string& selector) {
  const json place = evaluate("(() => { const e = document.querySelector(" + json(selector).dump() +
                              "); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
                              " return [r.x + r.width / 2, r.y + r.height / 2]; })()");
  if (!place.is_array()) return;
  for (const char* type : {"mousePressed", "mouseReleased"})
    call("Input.dispatchMouseEvent",
         {{"type", type}, {"x", place[0]}, {"y", place[1]}, {"button", "left"}, {"clickCount", 1}});
}

void Browser::save_screenshot(const fs::path& file) {
  const json picture = call("Page.captureScreenshot", {{"format", "png"}});
  std::ofstream(file, std::ios::binary) << decoded(picture.value("data", ""));
}

} // namespace assay::testing
