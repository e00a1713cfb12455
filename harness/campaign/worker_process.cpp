#include "campaign/worker_process.h"

#include <signal.h>
#include <sys/wait.h>

#include <cstring>
#include <thread>

#include "core/error.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

using std::chrono::milliseconds;

/// compute-sanitizer writes its log after the program that it watched has ended.
constexpr milliseconds kWrapperTimeout{60'000};
constexpr milliseconds kKillTimeout{5'000};

std::string device_type(const std::string& device) {
  return device.empty() ? "cpu" : device.substr(0, device.find(':'));
}

}  // namespace

WorkerProcess::WorkerProcess(WorkerOptions options) : options_(std::move(options)), spares_wanted_(options_.spares) {
  // A worker that dies while we write to it is a result, not a reason to die.
  ::signal(SIGPIPE, SIG_IGN);
}

WorkerProcess::~WorkerProcess() {
  if (link_ && child_ > 0) link_->send("quit\n");
}

void WorkerProcess::end(std::chrono::milliseconds limit) {
  if (!link_) return;
  link_->send("quit\n");
  link_->wait(limit);
  drop();
}

std::unique_ptr<WorkerLink> WorkerProcess::launch() {
  if (options_.program.empty()) options_.program = find_worker_program(device_type(options_.arguments.device));
  ++counters_.starts;
  return std::make_unique<WorkerLink>(options_.program, options_.arguments, options_.wrapper);
}

const WorkerHello& WorkerProcess::start() {
  if (link_) return hello_;
  for (int tries = 1; child_ < 0; ++tries) {
    link_ = launch();
    if (greet()) await_ready();
    if (child_ > 0) break;
    if (!link_ || !was_killed()) fail_start("the worker loaded the package but serves no cases");
    // Whoever kills processes at random says nothing about the package.
    if (tries == kKilledStartsMax) fail_start("the worker was killed each time that it was started");
    ++counters_.losses;
    drop();
  }
  refill();
  return hello_;
}

/// By somebody else: of a program that closed its pipe.
bool WorkerProcess::was_killed() {
  const auto deadline = Clock::now() + kKillTimeout;
  while (!link_->ended() && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(2));
  if (!link_->ended()) return false;
  const int status = link_->wait(milliseconds(0));
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/// False: it was killed before it could say hello.
bool WorkerProcess::greet() {
  WorkerMessage message;
  Read read = Read::kMessage;
  // A process that ended while it was getting ready is replaced, or the program says why not.
  do read = link_->read(Clock::now() + options_.start_timeout, &message);
  while (read == Read::kMessage && message.kind == WorkerMessage::Kind::kDied);
  switch (read) {
    case Read::kTimeout:
      fail_start("the worker did not finish loading in time");
    case Read::kClosed:
      if (was_killed()) return false;
      fail_start("the worker ended before it had loaded the package");
    case Read::kGarbage:
      fail_start("the worker does not speak our protocol");
    case Read::kMessage:
      break;
  }
  if (message.kind == WorkerMessage::Kind::kFatal) {
    drop();
    throw HarnessError(message.what, message.where, message.to_do);
  }
  if (message.kind != WorkerMessage::Kind::kHello) fail_start("the worker does not say hello first");
  hello_ = message.hello;
  return true;
}

std::string WorkerProcess::where(const std::string& words) const {
  return options_.program + " --package " + options_.arguments.package + (words.empty() ? "" : "\n" + words);
}

void WorkerProcess::fail_start(const std::string& why) {
  const std::string words = link_ ? link_->last_words() : "";
  drop();
  throw HarnessError(why, where(words),
                     "run that command by hand to see where it stops; a package built for another torch or CPU does "
                     "not load");
}

void WorkerProcess::note_ready(pid_t child) {
  child_ = child;
  fresh_ = true;
  ++counters_.children;
}

void WorkerProcess::await_ready() {
  const auto begin = Clock::now();
  WorkerMessage message;
  while (child_ < 0) {
    if (link_->read(begin + options_.start_timeout, &message) != Read::kMessage) return;
    if (message.kind == WorkerMessage::Kind::kFatal) {
      drop();
      throw HarnessError(message.what, message.where, message.to_do);
    }
    if (message.kind == WorkerMessage::Kind::kReady) note_ready(message.pid);
  }
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  if (counters_.children > 1 && us > counters_.recovery_us_max) counters_.recovery_us_max = us;
}

/// The process is gone: takes a spare that has loaded, or starts afresh.
void WorkerProcess::replace() {
  if (!options_.wrapper.empty()) {
    // What the wrapper has to say it says at the end, and another run would write over it.
    link_->wait(kWrapperTimeout);
    drop();
    return;
  }
  const auto begin = Clock::now();
  // The next case does not wait until this one has given back its device.
  std::erase_if(retired_, [](const auto& link) { return link->ended(); });
  link_->kill();
  retired_.push_back(std::move(link_));
  drop();
  while (!spares_.empty() && child_ < 0) {
    link_ = std::move(spares_.front());
    spares_.pop_front();
    refill();  // first, so that it loads while we wait for this one
    try {
      if (greet()) await_ready();
      if (child_ < 0) drop();
    } catch (const HarnessError&) {
      // The device has no room for so many, most likely: go on with fewer, and let start() say what is wrong with all.
      if (spares_wanted_ > 0) --spares_wanted_;
    }
  }
  if (child_ < 0) {
    // No spare: a new one needs the room on the device that those just killed may still hold.
    for (const auto& link : retired_) link->wait(kKillTimeout);
    retired_.clear();
  }
  start();
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  if (us > counters_.recovery_us_max) counters_.recovery_us_max = us;
}

void WorkerProcess::refill() {
  while (static_cast<int>(spares_.size()) < spares_wanted_) spares_.push_back(launch());
}

void WorkerProcess::drop() {
  link_.reset();
  child_ = -1;
}

WorkerProcess::Clock::time_point WorkerProcess::case_deadline() const {
  return Clock::now() + std::chrono::duration_cast<milliseconds>(options_.case_timeout * patience_);
}

CaseResult WorkerProcess::run(const Case& c) {
  const std::string text = print_case(c);
  const auto begin = Clock::now();
  // What an earlier case left behind would hide what the calls of this one leave. A device's process starts too slowly.
  const bool several_calls = !c.then.empty() || c.callers > 1 || c.runs >= kLeakRunsLeast;
  if (!on_device() && several_calls) renew();
  start();  // after that: a program that was killed in the meantime cannot renew its process
  if (child_ < 0) await_ready();
  CaseResult result = child_ < 0 ? lost("the worker serves no more cases") : run_once(text);
  result.us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  return result;
}

CaseResult WorkerProcess::run_once(const std::string& case_text) {
  CaseResult result;
  result.fresh_child = fresh_;
  link_->begin_case();
  const uint64_t id = next_id_++;
  const std::string request = print_case_request(id, case_text, careful_);
  // What serves itself may have ended since the last case; reading tells.
  if (!link_->send(request) && !serves_itself()) return lost("the worker takes no more cases");
  auto deadline = case_deadline();
  bool killed = false;
  int untaken = 0;
  for (;;) {
    WorkerMessage message;
    switch (link_->read(deadline, &message)) {
      case Read::kClosed:
        if (!serves_itself()) return lost("the worker program ended");
        message = ending_of_program();
        break;
      case Read::kGarbage:
        return lost("the worker wrote something that is no message");
      case Read::kTimeout:
        if (killed || child_ < 0) return lost("the worker program does not answer");
        // Only the case's process: the program that loaded the package goes on.
        killed = true;
        ::kill(child_, SIGKILL);
        deadline = Clock::now() + kKillTimeout;
        continue;
      case Read::kMessage:
        break;
    }
    switch (message.kind) {
      case WorkerMessage::Kind::kHello:
        return lost("the worker said hello twice");
      case WorkerMessage::Kind::kFatal: {
        const HarnessError error(message.what, message.where, message.to_do);
        drop();
        throw error;
      }
      case WorkerMessage::Kind::kReady:
        note_ready(message.pid);
        continue;
      case WorkerMessage::Kind::kReport:
        if (message.report.id != id) continue;
        fresh_ = false;
        losses_in_a_row_ = 0;
        result.report = std::move(message.report);
        return result;
      case WorkerMessage::Kind::kDied:
        break;
    }
    const bool ours = message.case_id == id;
    const bool planned = message.signal == 0 && message.status == 0 && message.device_error.empty();
    child_ = -1;
    if (!planned) ++counters_.deaths;
    if (!ours) {
      // A child that ended before it took up our case leaves nothing of the request, which its server drops, or its
      // pipe is gone with it. Should the next one find it all the same, it runs twice, and the second report is old.
      if (killed || ++untaken > kLossesMax) return lost("the worker does not take the case");
      if (serves_itself())
        replace();
      else
        await_ready();
      if (!link_ || child_ < 0) return lost("the worker does not take the case");
      link_->begin_case();
      link_->send(request);
      deadline = case_deadline();
      result.fresh_child = true;
      continue;
    }
    losses_in_a_row_ = 0;
    result.death = recorded(message, killed);
    // So that what follows starts from a live process and recovery is timed here.
    if (serves_itself())
      replace();
    else
      await_ready();
    return result;
  }
}

/// How a program that served cases itself ended, in the words of a fork server.
WorkerMessage WorkerProcess::ending_of_program() {
  const int status = link_->wait(kKillTimeout);
  WorkerMessage ending;
  ending.kind = WorkerMessage::Kind::kDied;
  ending.pid = link_->pid();
  ending.case_id = link_->recorder().case_id;
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending.status = WEXITSTATUS(status);
  return ending;
}

WorkerDeath WorkerProcess::recorded(const WorkerMessage& ending, bool killed) const {
  WorkerDeath death;
  if (killed)
    death.kind = WorkerDeath::Kind::kHang;
  else if (!ending.device_error.empty())
    death.kind = WorkerDeath::Kind::kDeviceFault;
  else if (ending.signal == SIGKILL)
    death.kind = WorkerDeath::Kind::kOutOfMemory;
  else
    death.kind = ending.signal != 0 ? WorkerDeath::Kind::kSignal : WorkerDeath::Kind::kExit;
  death.signal = ending.signal;
  death.status = ending.status;
  death.device_error = ending.device_error;
  death.memory_fault = ending.memory_fault;
  const FlightRecorder& recorder = link_->recorder();
  death.stage = static_cast<Stage>(recorder.stage.load());
  if (death.stage < Stage::kIdle || death.stage > Stage::kTeardown) death.stage = Stage::kIdle;
  death.step.assign(recorder.step, ::strnlen(recorder.step, sizeof(recorder.step)));
  death.reference_done = recorder.reference_done != 0;
  death.reference_accepts = recorder.reference_accepts != 0;
  death.fault_address = recorder.fault_address;
  const bool on_device = death.kind == WorkerDeath::Kind::kDeviceFault;
  if (death.kind == WorkerDeath::Kind::kSignal || (on_device && death.memory_fault))
    death.memory = recorded_memory_fault(recorder);
  if (on_device) {
    death.device_buffers = recorded_device_buffers(recorder);
    death.step_is_kernel = true;
  } else if (std::string kernel = recorded_kernel(recorder); !kernel.empty()) {
    death.step = std::move(kernel);
    death.step_is_kernel = true;
  }
  death.stack = recorded_stack(recorder);
  death.last_words = link_->last_words();
  return death;
}

CaseResult WorkerProcess::lost(const std::string& why) {
  const std::string words = link_ ? link_->last_words() : "";
  drop();
  ++counters_.losses;
  if (++losses_in_a_row_ >= kLossesMax)
    throw HarnessError("the worker was lost " + std::to_string(kLossesMax) + " times in a row: " + why, where(words),
                       "check free memory and disk space; if they are fine, report this as a fault of aotifuzz");
  CaseResult result;
  WorkerDeath death;
  death.kind = WorkerDeath::Kind::kLost;
  death.last_words = why + (words.empty() ? "" : ": " + words);
  result.death = std::move(death);
  return result;
}

void WorkerProcess::renew() {
  if (!link_ || child_ < 0 || fresh_) return;
  if (serves_itself()) return replace();
  // A process that holds a device takes long to be gone: it leaves by itself, and the next one need not wait for that.
  if (on_device() && link_->send("renew\n")) {
    const auto deadline = Clock::now() + kKillTimeout;
    child_ = -1;
    WorkerMessage message;
    while (child_ < 0)
      if (link_->read(deadline, &message) != Read::kMessage)
        return drop();
      else if (message.kind == WorkerMessage::Kind::kReady)
        note_ready(message.pid);
    return;
  }
  // Killing is the one way that also works when a case damaged the process.
  ::kill(child_, SIGKILL);
  WorkerMessage message;
  const auto deadline = Clock::now() + kKillTimeout;
  do {
    if (link_->read(deadline, &message) != Read::kMessage) return drop();
  } while (message.kind != WorkerMessage::Kind::kDied);
  child_ = -1;
  await_ready();
}

}  // namespace aotifuzz
