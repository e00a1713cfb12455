#include "targets/doctor_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "campaign/doctor.h"
#include "core/error.h"

namespace aotifuzz {
namespace {

/// An explanation of several lines stays in its column.
std::string in_column(std::string text, size_t column) {
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at) text.insert(at + 1, column, ' ');
  return text;
}

}  // namespace

void DoctorCommand::declare(CLI::App& app) {
  app.add_option("--device", device_, "cpu or cuda:N (default: the CPU, and cuda:0 where there is one)");
  app.add_option("--torch", torch_,
                 "Examine the worker for this torch, of those listed (default: the one beside aotifuzz)");
  app.add_flag("--json", json_, "As one JSON document");
}

int DoctorCommand::run() {
  if (!device_.empty() && device_ != "cpu" && device_.rfind("cuda", 0) != 0)
    throw UsageError("not a device", "--device " + device_, "give cpu, cuda or cuda:N");
  const std::vector<DoctorRow> rows = examine({device_ == "cuda" ? "cuda:0" : device_, torch_});
  const auto count = [&](DoctorRow::Status status) {
    return std::count_if(rows.begin(), rows.end(), [&](const DoctorRow& row) { return row.status == status; });
  };
  // Asked for by name, a device that is not here is an error.
  const bool missing = !device_.empty() && count(DoctorRow::Status::kNotHere) > 0 &&
                       std::none_of(rows.begin(), rows.end(), [](const DoctorRow& row) {
                         return row.status == DoctorRow::Status::kOk && row.what.ends_with(": worker");
                       });
  const int code = count(DoctorRow::Status::kBroken) > 0 || missing ? kExitWorld : kExitNoFaults;
  if (json_) {
    auto list = nlohmann::ordered_json::array();
    for (const DoctorRow& row : rows)
      list.push_back({{"what", row.what}, {"status", doctor_status_name(row.status)}, {"detail", row.detail}});
    const nlohmann::ordered_json root = {{"rows", std::move(list)}, {"exit_code", code}};
    fmt::print("{}\n", root.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return code;
  }
  for (const DoctorRow& row : rows)
    fmt::print("{:<8}  {:<32}  {}\n", doctor_status_name(row.status), row.what, in_column(row.detail, 44));
  fmt::print("{} ok, {} not here, {} broken\n", count(DoctorRow::Status::kOk), count(DoctorRow::Status::kNotHere),
             count(DoctorRow::Status::kBroken));
  return code;
}

}  // namespace aotifuzz
