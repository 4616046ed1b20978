#include "tools/command_line.h"

#include "harness/base/error.h"
#include "harness/report/text.h"
#include "tools/command.h"

#include <algorithm>

namespace assay {

namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(left); }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_display_name(true), command->get_description());
  }

 private:
  static constexpr std::size_t left = 30; // columns before what a name means

  static std::string entry(const std::string& name, const std::string& meaning) {
    const std::string shown = "  " + name, text = wrapped(meaning, left);
    if (shown.size() + 1 > left) return shown + "\n" + text;
    return shown + text.substr(shown.size());
  }
};

// The commands that were chosen, the innermost last: "corpus", "add".
std::vector<const CLI::App*> chosen(const CLI::App& app) {
  std::vector<const CLI::App*> path{&app};
  for (auto next = app.get_subcommands(); !next.empty(); next = next.front()->get_subcommands())
    path.push_back(next.front());
  return path;
}

std::string name_of(const std::vector<const CLI::App*>& path) {
  std::string name;
  for (std::size_t k = 1; k < path.size(); ++k) name += path[k]->get_name() + " ";
  return name;
}

// What an option takes, for a sentence: "FILE", "a number".
std::string value_of(const CLI::Option& option) {
  std::string text = option.get_option_text();
  if (constexpr std::string_view more = " ..."; text.ends_with(more)) text.resize(text.size() - more.size());
  return text == "N" ? "a number" : text;
}

std::string what_is_wrong(const CLI::ParseError& error, const CLI::App& app) {
  const std::vector<const CLI::App*> path = chosen(app);
  const std::vector<std::string> left_over = app.remaining(true);
  const auto unknown =
      std::ranges::find_if(left_over, [](const std::string& word) { return word.starts_with("-"); });
  if (unknown != left_over.end()) return fmt::format("there is no option {}", one_line(*unknown));
  if (path.back()->get_require_subcommand_min() > 0 && !left_over.empty())
    return fmt::format("there is no command '{}{}'", name_of(path), one_line(left_over.front()));
  for (const CLI::App* command : path)
    for (const CLI::Option* option : command->get_options())
      if (option->get_items_expected_max() == 1 && option->results().size() > 1)
        return fmt::format("{} is given {} times", option->get_name(), option->results().size());
  std::string text = message_of(error);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    for (const CLI::Option* option : path.back()->get_options())
      if (text.starts_with(option->get_name() + ":"))
        return fmt::format("{} lacks its value, {}", option->get_name(), value_of(*option));
  return text;
}

} // namespace

int worse(int a, int b) {
  for (const int code : {1, 70, 2, 4, 3})
    if (a == code || b == code) return code;
  return 0;
}

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<HelpFormatter>(); }

void add_device(CLI::App& command, std::string& device, std::string_view otherwise) {
  command.add_option("--device", device, fmt::format("where the kernel runs; left out: {}", otherwise))
      ->option_text("cpu|cuda[:N]");
}

void add_output_file(CLI::App& command, const std::string& name, std::string& file,
                     const std::string& description) {
  command.add_option(name, file, description)->option_text("FILE");
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue; // a flag
    const std::string what = value_of(*option);
    option->transform(CLI::Validator( // before the checks that the option has
        [what](std::string& value) {
          return value.empty() ? fmt::format("an empty value, where {} belongs", what) : std::string();
        },
        ""));
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    refuse_empty_values(*command);
}

std::vector<std::string> command_words(int argc, char** argv) {
  std::vector<std::string> words;
  for (int k = 1; k < argc && std::string_view(argv[k]) != "--"; ++k) {
    const std::string_view word = argv[k];
    const bool empty = word.starts_with("--") && word.find('=') == word.size() - 1;
    words.emplace_back(empty ? word.substr(0, word.size() - 1) : word);
    if (empty) words.emplace_back();
  }
  return words;
}

std::string problem_of(const CLI::ParseError& error, const CLI::App& app) {
  return fmt::format("{} (assay {}--help shows how it is called)", what_is_wrong(error, app),
                     name_of(chosen(app)));
}

std::string message_of(const std::exception& error) {
  std::string text = error.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return one_line(std::move(text));
}

} // namespace assay
