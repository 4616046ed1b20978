#include "harness/screen/fill_source.h"

#include "harness/compile/compile.h"

#include <string_view>
#include <utility>

#pragma clang diagnostic ignored "-Wc23-extensions" // #embed

namespace assay {

namespace {

constexpr char philox_text[] = {
#embed "../inputs/philox.h"
};
constexpr char distribution_kind_text[] = {
#embed "../cases/distribution_kind.h"
};
constexpr char element_text[] = {
#embed "../inputs/element.h"
};
constexpr char exact_math_text[] = {
#embed "../inputs/exact_math.h"
};
constexpr char domain_kind_text[] = {
#embed "../inputs/domain_kind.h"
};
constexpr char domain_element_text[] = {
#embed "../inputs/domain_element.h"
};
constexpr char storage_bits_text[] = {
#embed "../inputs/storage_bits.h"
};
constexpr char fill_input_text[] = {
#embed "../inputs/fill_input.h"
};
constexpr char fill_layout_text[] = {
#embed "fill_layout.h"
};
constexpr char half_bits_text[] = {
#embed "device/half_bits.h"
};
constexpr char fill_element_text[] = {
#embed "device/fill_element.h"
};
constexpr char normal_filter_text[] = {
#embed "device/normal_filter.h"
};
constexpr char slot_blocks_text[] = {
#embed "device/slot_blocks.h"
};
constexpr char fill_text[] = {
#embed "device/fill.cu"
};
constexpr char memory_text[] = {
#embed "device/memory.cu"
};

template <std::size_t size> constexpr std::string_view view(const char (&text)[size]) { return {text, size}; }

// Every file after those that it includes, as one text.
constexpr std::string_view files[] = {view(philox_text),       view(distribution_kind_text),
                                      view(element_text),      view(exact_math_text),
                                      view(domain_kind_text),  view(domain_element_text),
                                      view(storage_bits_text), view(fill_input_text),
                                      view(fill_layout_text),  view(half_bits_text),
                                      view(fill_element_text), view(normal_filter_text),
                                      view(slot_blocks_text),  view(fill_text),
                                      view(memory_text)};

std::string in_one() {
  std::string text = "#include <cmath>\n#include <cstdint>\n";
  for (std::string_view file : files)
    while (!file.empty()) {
      const std::string_view line = file.substr(0, file.find('\n'));
      file.remove_prefix(std::min(line.size() + 1, file.size()));
      if (!line.starts_with("#include \"") && line != "#pragma once") text.append(line);
      text += '\n';
    }
  return text;
}

} // namespace

Result<PtxSource> fill_source(const std::filesystem::path& cache_dir, const std::string& arch) {
  CompileRequest request;
  request.path = "assay_fill.cu";
  request.text = in_one();
  request.names = {"assay_clear", "assay_fill", "assay_settle", "assay_sum", "assay_check", "assay_compare"};
  request.options = {"-fmad=false", "-std=c++20", "-default-device"};
  request.arch = arch;
  return compile(request, cache_dir);
}

} // namespace assay
