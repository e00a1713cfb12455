#include "store/worker_protocol.h"

#include <gtest/gtest.h>

#include <cmath>

namespace aotifuzz {
namespace {

WorkerMessage parsed(const std::string& line) {
  auto message = parse_message(line);
  EXPECT_TRUE(message) << line << ": " << message.error().what;
  return message ? *message : WorkerMessage{};
}

TEST(WorkerProtocol, AReportComesBackAsItWas) {
  WorkerMessage message;
  message.kind = WorkerMessage::Kind::kReport;
  message.report.id = 0xffffffffffffffffu;
  message.report.reference_accepts = true;
  message.report.runs = {{"reference", {OutcomeKind::kFinished, Stage::kReference, ""}, 12.5},
                         {"subject", {OutcomeKind::kRejected, Stage::kSubject, "too small"}, 3}};
  Verdict verdict;
  verdict.oracle = "close";
  verdict.status = VerdictStatus::kFail;
  verdict.cls = VerdictClass::kWrongResult;
  verdict.fault = true;
  verdict.reason = "output 0 differs";
  verdict.signature = "wrong-result output 0";
  verdict.measures = {{"index", "[0, 3]"}, {"expected", "3"}};
  Verdict pass;
  pass.oracle = "metadata";
  message.report.verdicts = {verdict, pass};
  const WorkerMessage back = parsed(print_message(message));
  EXPECT_EQ(back.kind, WorkerMessage::Kind::kReport);
  EXPECT_EQ(back.report.id, message.report.id);
  EXPECT_TRUE(back.report.reference_accepts);
  ASSERT_EQ(back.report.runs.size(), 2u);
  EXPECT_EQ(back.report.runs[1].outcome.kind, OutcomeKind::kRejected);
  EXPECT_EQ(back.report.runs[1].outcome.message, "too small");
  EXPECT_EQ(back.report.runs[0].us, 12.5);
  ASSERT_EQ(back.report.verdicts.size(), 2u);
  EXPECT_EQ(back.report.verdicts[0].cls, VerdictClass::kWrongResult);
  EXPECT_TRUE(back.report.verdicts[0].fault);
  EXPECT_EQ(back.report.verdicts[0].signature, verdict.signature);
  EXPECT_EQ(back.report.verdicts[0].measures, verdict.measures);
  EXPECT_EQ(back.report.verdicts[1].status, VerdictStatus::kPass);
}

TEST(WorkerProtocol, EveryKindOfMessageComesBack) {
  WorkerMessage message;
  message.hello = {42, "2.11.0", "AVX512", {"close", "stable"}, {"output 1: random op"}};
  message.kind = WorkerMessage::Kind::kHello;
  EXPECT_EQ(parsed(print_message(message)).hello.not_judged, message.hello.not_judged);
  message.kind = WorkerMessage::Kind::kReady;
  message.pid = 4711;
  EXPECT_EQ(parsed(print_message(message)).pid, 4711);
  message.kind = WorkerMessage::Kind::kDied;
  message.signal = 11;
  message.case_id = 12;
  EXPECT_EQ(parsed(print_message(message)).signal, 11);
  EXPECT_EQ(parsed(print_message(message)).case_id, 12u);
  message.kind = WorkerMessage::Kind::kFatal;
  message.what = "cannot load";
  message.to_do = "rebuild";
  EXPECT_EQ(parsed(print_message(message)).to_do, "rebuild");
}

TEST(WorkerProtocol, ALostDeviceSaysWhatItWas) {
  WorkerMessage message;
  message.kind = WorkerMessage::Kind::kDied;
  message.device_error = "illegal memory access";
  message.memory_fault = true;
  const WorkerMessage back = parsed(print_message(message));
  EXPECT_EQ(back.device_error, message.device_error);
  EXPECT_TRUE(back.memory_fault);
  message.kind = WorkerMessage::Kind::kHello;
  message.hello.device = "cuda:0 NVIDIA H200";
  EXPECT_EQ(parsed(print_message(message)).hello.device, message.hello.device);
}

TEST(WorkerProtocol, ARequestMayAskForCare) {
  const std::string request = print_case_request(7, "text", true);
  const auto back = parse_request_line(request.substr(0, request.find('\n')));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->careful);
  EXPECT_EQ(back->id, 7u);
  EXPECT_EQ(back->bytes, 4u);
  EXPECT_FALSE(parse_request_line("case 7 4")->careful);
  EXPECT_FALSE(parse_request_line("case 7 4 carefully"));
}

TEST(WorkerProtocol, AMessageIsOneLineWhateverThePackageWrote) {
  WorkerMessage message;
  message.kind = WorkerMessage::Kind::kReport;
  message.report.runs = {
      {"subject", {OutcomeKind::kRejected, Stage::kSubject, std::string("a\nb\xff\0c", 6)}, std::nan("")}};
  const std::string line = print_message(message);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_TRUE(parse_message(line));
}

TEST(WorkerProtocol, HostileMessagesAreErrors) {
  for (const char* line :
       {"", "{", "[]", "null", "{}", "{\"ready\": 1, \"x\": 2}", "{\"report\": 3}",
        "{\"report\": {\"verdicts\": [{}]}}", "{\"report\": {\"verdicts\": [{\"status\": \"fail\"}]}}",
        "{\"report\": {\"runs\": [{\"outcome\": \"odd\"}]}}", "{\"report\": {\"id\": -1}}",
        "{\"died\": {\"pid\": 99999999999999999999}}", "{\"hello\": {\"oracles\": [1]}}", "{\"what\": {}}"})
    EXPECT_FALSE(parse_message(line)) << line;
}

TEST(WorkerProtocol, ProcessIdsThatWouldKillMoreThanOneProcessAreRefused) {
  for (const char* pid : {"1", "0", "-1", "-500"})
    EXPECT_FALSE(parse_message("{\"ready\": " + std::string(pid) + "}")) << pid;
}

TEST(WorkerProtocol, NestingCannotExhaustTheStack) { EXPECT_FALSE(parse_message(std::string(1'000'000, '['))); }

TEST(WorkerProtocol, ARequestSaysHowManyBytesFollow) {
  const std::string request = print_case_request(7, "aotifuzz-case 1\n");
  const size_t end = request.find('\n') + 1;
  const auto parsed_request = parse_request_line(request.substr(0, end));
  ASSERT_TRUE(parsed_request);
  EXPECT_EQ(parsed_request->id, 7u);
  EXPECT_EQ(request.substr(end, parsed_request->bytes), "aotifuzz-case 1\n");
  EXPECT_EQ(request.size(), end + parsed_request->bytes);
  EXPECT_EQ(parse_request_line("quit\n")->kind, WorkerRequest::Kind::kQuit);
  for (const char* line :
       {"", "case", "case 1", "case x 1", "case 1 -1", "case 1 99999999999", "case -1 5", "quit now"})
    EXPECT_FALSE(parse_request_line(line)) << line;
}

TEST(WorkerProtocol, TheDeviceIsAnArgument) {
  WorkerArguments arguments;
  arguments.package = "model.pt2";
  arguments.device = "cuda:1";
  const auto back = parse_worker_arguments(arguments.print());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->device, "cuda:1");
}

TEST(WorkerProtocol, ArgumentsComeBackAsTheyWere) {
  WorkerArguments arguments;
  arguments.package = "a b.pt2";
  arguments.model = "m";
  arguments.reference = "r.pt2";
  arguments.ops = {"x.so", "y.so"};
  arguments.memory_mib = 512;
  arguments.kernels_every = 7;
  const auto back = parse_worker_arguments(arguments.print());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kernels_every, 7);
  EXPECT_EQ(back->print(), arguments.print());
  EXPECT_FALSE(parse_worker_arguments({}));
  EXPECT_FALSE(parse_worker_arguments({"--package"}));
  EXPECT_FALSE(parse_worker_arguments({"--package", "x", "--odd", "1"}));
  EXPECT_FALSE(parse_worker_arguments({"--package", "x", "--memory-mib", "lots"}));
  EXPECT_FALSE(parse_worker_arguments({"--package", "x", "--kernels-every", "-1"}));
}

}  // namespace
}  // namespace aotifuzz
