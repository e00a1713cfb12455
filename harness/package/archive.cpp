#include "package/archive.h"

#include <zip.h>

#include <algorithm>
#include <set>
#include <utility>

namespace aotifuzz {

struct Archive::Handle {
  zip_t* zip = nullptr;
  std::string path;
  ~Handle() {
    if (zip != nullptr) zip_discard(zip);
  }
};

namespace {

std::optional<std::string> bad_name(std::string_view name) {
  if (name.empty()) return "has an empty name";
  if (name.front() == '/') return "has an absolute name";
  if (name.find('\\') != std::string_view::npos) return "has a backslash in its name";
  if (name.find('\0') != std::string_view::npos) return "has a NUL in its name";
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return "leaves the archive ('..' in its name)";
    begin = end + 1;
  }
  return std::nullopt;
}

// Names in messages come from the archive: cut and stripped of what a terminal would act on.
std::string shown(std::string_view name) {
  std::string out;
  for (char c : name.substr(0, 120)) out += (c >= 32 && c < 127) ? c : '?';
  return name.size() > 120 ? out + "..." : out;
}

std::string zip_error_text(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

Archive::Archive(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Archive::Archive(Archive&&) noexcept = default;
Archive& Archive::operator=(Archive&&) noexcept = default;
Archive::~Archive() = default;

Result<Archive> Archive::open(const std::string& path, const ArchiveLimits& limits) {
  auto handle = std::make_unique<Handle>();
  handle->path = path;
  int code = 0;
  handle->zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (handle->zip == nullptr) return parse_error("cannot open as a zip archive: " + zip_error_text(code), path);
  return check(std::move(handle), path, limits);
}

Result<Archive> Archive::from_bytes(std::string_view bytes, const ArchiveLimits& limits) {
  auto handle = std::make_unique<Handle>();
  handle->path = "archive";
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source != nullptr) {
    handle->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (handle->zip == nullptr) zip_source_free(source);
  }
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (handle->zip == nullptr) return parse_error("cannot open as a zip archive: " + text, "archive");
  return check(std::move(handle), "archive", limits);
}

Result<Archive> Archive::check(std::unique_ptr<Handle> handle, const std::string& where, const ArchiveLimits& limits) {
  Archive archive(std::move(handle));
  zip_t* zip = archive.handle_->zip;
  const zip_int64_t count = zip_get_num_entries(zip, 0);
  if (count == 0)
    return parse_error("cannot open as a zip archive: it is empty", where);  // libzip accepts an empty file
  if (count < 0 || static_cast<uint64_t>(count) > limits.members_max)
    return parse_error("archive has " + std::to_string(count) + " members, more than are allowed", where);
  uint64_t total = 0;
  std::set<std::string> names;
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if (zip_stat_index(zip, static_cast<zip_uint64_t>(i), 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
      return parse_error("member " + std::to_string(i) + " has no readable directory entry", where);
    const std::string name = stat.name;
    const std::string member = where + ": member " + shown(name);
    if (const std::optional<std::string> reason = bad_name(name))
      return parse_error("archive member " + *reason, member);
    if (!names.insert(name).second) return parse_error("archive member appears twice", member);
    if (name.back() == '/') continue;
    if (stat.size > limits.total_bytes_max - total)
      return parse_error("archive unpacks to more than " + std::to_string(limits.total_bytes_max) + " bytes", member);
    total += stat.size;
    if (stat.size > limits.ratio_free_bytes && stat.size / std::max<uint64_t>(stat.comp_size, 1) > limits.ratio_max)
      return parse_error("archive member is compressed more than " + std::to_string(limits.ratio_max) +
                             " times (a decompression bomb?)",
                         member);
    archive.members_.push_back({name, stat.size});
  }
  if (!archive.members_.empty()) {
    const std::string& first = archive.members_[0].name;
    const std::string root = first.substr(0, first.find('/') == std::string::npos ? 0 : first.find('/') + 1);
    const bool shared = std::all_of(archive.members_.begin(), archive.members_.end(),
                                    [&](const Member& member) { return member.name.starts_with(root); });
    // An archive whose only folder is one of the format's own has no root folder.
    if (shared && root != "data/" && root != "models/" && root != "extra/") archive.root_ = root;
  }
  std::sort(archive.members_.begin(), archive.members_.end(),
            [](const Member& a, const Member& b) { return a.name < b.name; });
  return archive;
}

const Archive::Member* Archive::find(std::string_view name) const {
  const std::string full = root_ + std::string(name);
  const auto it =
      std::lower_bound(members_.begin(), members_.end(), full,
                       [](const Member& member, const std::string& wanted) { return member.name < wanted; });
  return it != members_.end() && it->name == full ? &*it : nullptr;
}

Result<std::string> Archive::read(std::string_view name, uint64_t bytes_max) const {
  const std::string where = handle_->path + ": member " + shown(name);
  const Member* member = find(name);
  if (member == nullptr) return parse_error("archive has no such member", where);
  if (member->bytes > bytes_max)
    return parse_error("archive member has " + std::to_string(member->bytes) + " bytes, more than the " +
                           std::to_string(bytes_max) + " allowed",
                       where);
  zip_file_t* file = zip_fopen(handle_->zip, member->name.c_str(), 0);
  if (file == nullptr)
    return parse_error(std::string("archive member cannot be read: ") + zip_strerror(handle_->zip), where);
  // The directory's size is a claim: memory grows with what really arrives.
  std::string bytes;
  constexpr size_t kChunk = size_t{1} << 20;
  std::string failure;
  while (failure.empty()) {
    const size_t have = bytes.size();
    const size_t want = std::min<uint64_t>(kChunk, member->bytes - have);
    if (want == 0) {
      // Reading past the end makes libzip check the checksum.
      char beyond = 0;
      const zip_int64_t more = zip_fread(file, &beyond, 1);
      if (more > 0) failure = "is longer than its directory entry says";
      if (more < 0) failure = std::string("cannot be read: ") + zip_error_strerror(zip_file_get_error(file));
      break;
    }
    bytes.resize(have + want);
    const zip_int64_t got = zip_fread(file, bytes.data() + have, want);
    if (got < 0)
      failure = std::string("cannot be read: ") + zip_error_strerror(zip_file_get_error(file));
    else if (got == 0)
      failure = "is shorter than its directory entry says";
    else
      bytes.resize(have + static_cast<size_t>(got));
  }
  zip_fclose(file);
  if (!failure.empty()) return parse_error("archive member " + failure, where);
  return bytes;
}

}  // namespace aotifuzz
