#include "harness/export/exported.h"

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace assay {

namespace {

// numpy's name of a type; bf16 and fp8, which it lacks, as bit patterns.
std::string descriptor(DType dtype) {
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

// The .npy format, version 1.0 (NumPy documentation, "numpy.lib.format"): the header is padded to 64 bytes.
std::string npy(const std::string& descriptor, const std::vector<std::int64_t>& shape,
                std::string_view bytes) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += fmt::format("{}, ", size);
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descriptor,
                                   shape.size() == 1 ? sizes.substr(0, sizes.size() - 1) : sizes);
  constexpr std::size_t before = 10; // magic, version, length
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  return file + header + std::string(bytes);
}

std::string_view bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
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

} // namespace

Result<std::string> npz_arrays(const Exported& exported) {
  const Trial& trial = exported.judgement.trial;
  std::vector<std::pair<std::string, std::string>> entries;
  const std::string text = to_text(exported.test_case);
  entries.emplace_back("case.npy", npy("|u1", {std::ssize(text)}, text));
  for (std::size_t i = 0; i < trial.inputs.size(); ++i) {
    const Tensor& input = trial.inputs[i];
    const PlannedTensor& planned = trial.plan.tensors[i];
    const bool given = planned.info->role == Role::input || planned.info->role == Role::upstream;
    if (!planned.present || !given) continue;
    entries.emplace_back(planned.info->name + ".npy",
                         npy(descriptor(input.dtype), input.shape,
                             {reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size()}));
  }
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    const TensorReport& report = trial.tensors[i];
    if (trial.target[i].empty()) continue;
    entries.emplace_back("golden_" + report.name + ".npy",
                         npy("<f8", report.shape, bytes_of(trial.golden[i].value)));
    entries.emplace_back("reference_" + report.name + ".npy",
                         npy("<f8", report.shape, bytes_of(trial.reference[i].value)));
    entries.emplace_back("target_" + report.name + ".npy",
                         npy("<f8", report.shape, bytes_of(trial.target[i])));
  }
  Archive archive;
  ASSAY_TRY_VOID(archive.open());
  for (const auto& [name, content] : entries) ASSAY_TRY_VOID(archive.add(name, content));
  return archive.finish();
}

} // namespace assay
