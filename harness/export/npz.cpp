#include "harness/export/npz.h"

#include <zip.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

namespace assay {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

// The header is padded so that the values begin at a multiple of 64 bytes.
std::string npy_of(const NpzArray& array) {
  std::string sizes;
  for (const std::int64_t size : array.shape) sizes += fmt::format("{}, ", size);
  if (array.shape.size() > 1) sizes.resize(sizes.size() - 2);
  if (array.shape.size() == 1) sizes.resize(sizes.size() - 1);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", array.descriptor, sizes);
  constexpr std::size_t before = 10; // magic, version, length
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string file(magic);
  file += std::string("\x01\x00", 2);
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  return file + header + array.bytes;
}

// What stands behind "'key':" in a header, without the blanks before it.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return std::nullopt;
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

// "(3, 257)", "(3,)" or "()".
std::optional<std::vector<std::int64_t>> shape_of(std::string_view text) {
  if (!text.starts_with('(') || !text.contains(')')) return std::nullopt;
  text = text.substr(1, text.find(')') - 1);
  std::vector<std::int64_t> shape;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    if (text.empty()) return shape;
    std::int64_t size = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (failure != std::errc() || size < 0) return std::nullopt;
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

// The bytes of one element: the digits of "<f4".
std::optional<std::uint64_t> item_size(std::string_view descriptor) {
  std::uint64_t size = 0;
  if (descriptor.size() < 3) return std::nullopt;
  const auto [end, failure] =
      std::from_chars(descriptor.data() + 2, descriptor.data() + descriptor.size(), size);
  if (failure != std::errc() || end != descriptor.data() + descriptor.size() || size == 0)
    return std::nullopt;
  return size;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

Result<NpzArray> parse_npy(std::string name, std::string_view bytes, const Place& place) {
  const auto wrong = [&](std::string_view what) { return user_error(place, "array '{}' {}", name, what); };
  if (!bytes.starts_with(magic) || bytes.size() < 12) return wrong("is not in NumPy's format");
  const char version = bytes[6];
  if (version < 1 || version > 3) return wrong("has a version of NumPy's format other than 1, 2 and 3");
  const std::size_t length_bytes = version == 1 ? 2 : 4, begin = 8 + length_bytes;
  const std::uint64_t length = little_endian(bytes.substr(8, length_bytes));
  if (length > bytes.size() - begin) return wrong("ends in the middle of its header");
  const std::string_view header = bytes.substr(begin, length);
  const auto descriptor = value_of(header, "descr"), order = value_of(header, "fortran_order"),
             shape = value_of(header, "shape");
  if (!descriptor || !order || !shape) return wrong("has a header without descr, fortran_order and shape");
  NpzArray array{std::move(name), {}, {}, {}};
  const auto name_shown = [&](std::string_view what) {
    return user_error(place, "array '{}' {}", array.name, what);
  };
  if (descriptor->starts_with('\'')) array.descriptor = descriptor->substr(1, descriptor->find('\'', 1) - 1);
  const auto item = item_size(array.descriptor);
  if (!item) return name_shown("holds no plain numbers");
  auto sizes = shape_of(*shape);
  if (!sizes) return name_shown("has a shape that is none");
  array.shape = *std::move(sizes);
  if (!order->starts_with("False") && array.shape.size() > 1)
    return name_shown("is column-major: save numpy.ascontiguousarray of it");
  std::uint64_t expected = *item;
  for (const std::int64_t size : array.shape)
    if (__builtin_mul_overflow(expected, static_cast<std::uint64_t>(size), &expected))
      return name_shown("has a shape beyond 64 bits");
  const std::string_view values = bytes.substr(begin + length);
  if (values.size() != expected)
    return user_error(place, "array '{}' has {} bytes of values where its shape and type take {}", array.name,
                      values.size(), expected);
  array.bytes = values;
  return array;
}

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};

// An archive in memory.
class Archive {
 public:
  Result<void> open() {
    zip_error_init(&error_);
    source_ = zip_source_buffer_create(nullptr, 0, 0, &error_);
    if (source_) archive_.reset(zip_open_from_source(source_, ZIP_CREATE | ZIP_TRUNCATE, &error_));
    if (!archive_) return environment_error({}, "no archive can be made: {}", zip_error_strerror(&error_));
    zip_source_keep(source_);
    return {};
  }
  ~Archive() {
    archive_.reset();
    if (source_) zip_source_free(source_);
    zip_error_fini(&error_);
  }
  Archive() = default;
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  // `content` must outlive finish().
  Result<void> add(const std::string& name, const std::string& content) {
    zip_source_t* source = zip_source_buffer(archive_.get(), content.data(), content.size(), 0);
    const zip_int64_t index =
        source ? zip_file_add(archive_.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE) : -1;
    if (index < 0) {
      if (source) zip_source_free(source);
      return environment_error({}, "{} cannot be put into the archive: {}", name,
                               zip_strerror(archive_.get()));
    }
    // The same case gives the same bytes.
    zip_file_set_dostime(archive_.get(), static_cast<zip_uint64_t>(index), 0, (1 << 5) | 1, 0);
    return {};
  }
  Result<std::string> finish() {
    if (zip_close(archive_.get()) != 0)
      return environment_error({}, "the archive cannot be made: {}", zip_strerror(archive_.get()));
    archive_.release();
    zip_stat_t stat;
    if (zip_source_open(source_) != 0 || zip_source_stat(source_, &stat) != 0)
      return environment_error({}, "the archive cannot be read back");
    std::string bytes(stat.size, '\0');
    const zip_int64_t read = zip_source_read(source_, bytes.data(), bytes.size());
    zip_source_close(source_);
    if (read != static_cast<zip_int64_t>(bytes.size()))
      return environment_error({}, "the archive cannot be read back");
    return bytes;
  }

 private:
  zip_error_t error_{};
  zip_source_t* source_ = nullptr;
  std::unique_ptr<zip_t, CloseArchive> archive_;
};

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

} // namespace

std::string_view numpy_descriptor(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return "<f8";
  case DType::f32:
    return "<f4";
  case DType::f16:
    return "<f2";
  case DType::bf16:
    return "<u2";
  case DType::i64:
    return "<i8";
  case DType::i32:
    return "<i4";
  case DType::i8:
    return "|i1";
  default:
    return "|u1";
  }
}

Result<std::string> write_npz(const std::vector<NpzArray>& arrays) {
  std::vector<std::string> contents;
  for (const NpzArray& array : arrays) contents.push_back(npy_of(array));
  Archive archive;
  ASSAY_TRY_VOID(archive.open());
  for (std::size_t i = 0; i < arrays.size(); ++i)
    ASSAY_TRY_VOID(archive.add(arrays[i].name + ".npy", contents[i]));
  return archive.finish();
}

Result<std::vector<NpzArray>> read_npz(std::string_view bytes, std::string_view file, std::uint64_t budget) {
  const Place place{std::string(file)};
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  const std::unique_ptr<zip_t, CloseArchive> archive(source ? zip_open_from_source(source, ZIP_RDONLY, &error)
                                                            : nullptr);
  if (!archive && source) zip_source_free(source);
  zip_error_fini(&error);
  if (!archive) return user_error(place, "is no archive of arrays (numpy.savez writes one)");
  std::vector<NpzArray> arrays;
  std::uint64_t room = budget;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0 ||
        !(stat.valid & ZIP_STAT_SIZE) || !(stat.valid & ZIP_STAT_NAME))
      return user_error(place, "entry {} of the archive cannot be read", i);
    std::string name = stat.name;
    if (stat.size > room)
      return user_error(place, "'{}' takes the arrays over {} bytes in all", name, budget);
    room -= stat.size;
    const std::unique_ptr<zip_file_t, CloseFile> entry(
        zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0));
    std::string content(stat.size, '\0');
    if (!entry ||
        zip_fread(entry.get(), content.data(), content.size()) != static_cast<zip_int64_t>(content.size()))
      return user_error(place, "'{}' of the archive cannot be read", name);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    ASSAY_TRY(NpzArray array, parse_npy(std::move(name), content, place));
    arrays.push_back(std::move(array));
  }
  if (arrays.empty()) return user_error(place, "has no arrays");
  return arrays;
}

} // namespace assay
