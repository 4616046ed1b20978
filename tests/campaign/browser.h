// A real browser without a window, driven through its debugging pipe (the DevTools protocol).
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>

namespace assay::testing {

class Browser {
 public:
  static std::optional<std::filesystem::path> find(); // Chromium or Chrome along the PATH

  // Starts it with a page; a test failure where that does not work.
  Browser(const std::filesystem::path& program, const std::filesystem::path& page);
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser();

  void resize(int width, int height, bool phone);
  nlohmann::json evaluate(const std::string& script); // the value of an expression
  void click(const std::string& selector);            // at its middle, by the mouse
  void save_screenshot(const std::filesystem::path& file);

 private:
  nlohmann::json call(const std::string& method, const nlohmann::json& parameters);
  std::string read_message();

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  int next_id_ = 0;
  std::string session_, unread_;
};

} // namespace assay::testing
