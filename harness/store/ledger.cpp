#include "store/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/content_hash.h"
#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

Result<Ledger::Known> parse_known(const json& item) {
  if (!item.is_object() || !item.value("slug", json("")).is_string() ||
      !item.value("fault", json(false)).is_boolean() || !item.value("duplicates", json(0u)).is_number_unsigned() ||
      !item.value("culprit", json("")).is_string() || !item.value("hidden", json(false)).is_boolean())
    return parse_error("a known finding has fields of the wrong type", "known");
  return Ledger::Known{item.value("slug", ""), item.value("fault", false), item.value("duplicates", uint64_t{0}),
                       item.value("culprit", ""), item.value("hidden", false)};
}

Result<Ledger::Section> parse_section(const json& item) {
  if (!item.is_object() || !item.value("package", json("")).is_string() ||
      !item.value("cases", json(0u)).is_number_unsigned())
    return parse_error("a section has fields of the wrong type", "packages");
  Ledger::Section section;
  section.package = item.value("package", "");
  section.cases = item.value("cases", uint64_t{0});
  const json next = item.value("next_case", json::object());
  const json known = item.value("known", json::object());
  const json pending = item.value("pending", json(json::value_t::array));
  if (!pending.is_array()) return parse_error("not a list", "pending");
  for (const json& text : pending) {
    if (!text.is_string()) return parse_error("a pending case is not text", "pending");
    section.pending.push_back(text.get<std::string>());
  }
  if (!next.is_object() || !known.is_object()) return parse_error("next_case or known is not an object", "packages");
  for (const auto& [seed, position] : next.items()) {
    if (!position.is_number_unsigned()) return parse_error("a position is not a number", "next_case");
    section.next_case[seed] = position.get<uint64_t>();
  }
  for (const auto& [key, value] : known.items()) {
    auto entry = parse_known(value);
    if (!entry) return tl::unexpected(entry.error());
    section.known[key] = std::move(*entry);
  }
  return section;
}

}  // namespace

std::string print_ledger(const Ledger& ledger) {
  json packages = json::object();
  for (const auto& [hash, section] : ledger.packages) {
    json known = json::object();
    for (const auto& [key, entry] : section.known) {
      known[key] = {{"slug", entry.slug}, {"fault", entry.fault}, {"duplicates", entry.duplicates}};
      if (!entry.culprit.empty()) known[key]["culprit"] = entry.culprit;
      if (entry.hidden) known[key]["hidden"] = true;
    }
    packages[hash] = {{"package", section.package},
                      {"cases", section.cases},
                      {"next_case", section.next_case},
                      {"known", std::move(known)},
                      {"pending", section.pending}};
  }
  const json root = {{"version", kVersion}, {"packages", std::move(packages)}};
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Ledger> parse_ledger(std::string_view text) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return parse_error("not a JSON object", "state");
  const json version = root.value("version", json());
  if (version != kVersion) return parse_error("unknown version " + version.dump(), "version");
  const json packages = root.value("packages", json::object());
  if (!packages.is_object()) return parse_error("not an object", "packages");
  Ledger ledger;
  for (const auto& [hash, item] : packages.items()) {
    auto section = parse_section(item);
    if (!section) return tl::unexpected(section.error());
    ledger.packages[hash] = std::move(*section);
  }
  return ledger;
}

Ledger load_ledger(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  auto ledger = parse_ledger(read_file(path));
  if (!ledger)
    throw HarnessError("the state of an earlier run cannot be read: " + ledger.error().what,
                       path + ", " + ledger.error().where, "move the file away to start again, or give another --out");
  return std::move(*ledger);
}

std::string content_hash(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) throw HarnessError("cannot read a file", path, "check the path");
  ContentHash hash;
  std::vector<char> block(1 << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0)
    hash.add(block.data(), static_cast<size_t>(in.gcount()));
  return hash.text();
}

FolderLock::FolderLock(const std::string& folder) {
  const std::string path = folder + "/lock";
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0)
    throw HarnessError(std::string("cannot create a file: ") + std::strerror(errno), path,
                       "check that you may write there");
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd_);
    throw HarnessError("another aotifuzz is writing to this folder", folder, "wait for it, or give another --out");
  }
}

FolderLock::~FolderLock() { ::close(fd_); }

}  // namespace aotifuzz
