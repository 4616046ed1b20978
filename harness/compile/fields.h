// Texts behind one another in one, each with its length, so that any bytes survive.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

void put_field(std::string& body, std::string_view field);

// The first, which `body` then has no longer; nothing where there is no whole one.
std::optional<std::string> take_field(std::string_view& body);

} // namespace assay
