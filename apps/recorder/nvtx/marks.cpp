// Ranges and marks of NVTX that are named as `--step-range` says mark a step. Every copy of NVTX in
// a program (it is a header that each library compiles for itself) loads the library of
// NVTX_INJECTION64_PATH when it is called first, and asks it which functions it wants to have.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <atomic>

#include "nvtx.hpp"

namespace headway::recorder {
namespace {

const char* name_of_step = nullptr;

// Told of each step: the recorder of another language.
std::atomic<void (*)()> told{nullptr};

void step() {
  using Step = void (*)();
  // Whichever recorders there are are loaded before the program.
  if (const auto mark = reinterpret_cast<Step>(::dlsym(RTLD_DEFAULT, "headway_record_step"))) {
    mark();
  }
  if (const auto tell = told.load(std::memory_order_acquire)) tell();
}

void look_at(const char* message) {
  if (message != nullptr && ::strcmp(message, name_of_step) == 0) step();
}

// A name of other than the letters of ASCII is compared as far as it is of them.
void look_at(const wchar_t* message) {
  const char* name = name_of_step;
  if (message == nullptr) return;
  while (*name != '\0' && *message == static_cast<unsigned char>(*name)) ++name, ++message;
  if (*name == '\0' && *message == L'\0') step();
}

// Names that a program registers are the string itself, as we hand them out.
void look_at(const nvtx::Event* event) {
  if (event == nullptr || event->size < sizeof(nvtx::Event)) return;
  if (event->message_type == nvtx::kAscii) look_at(event->message.ascii);
  if (event->message_type == nvtx::kUnicode) look_at(event->message.unicode);
  if (event->message_type == nvtx::kRegistered) look_at(event->message.ascii);
}

// What a program gets where no tool is: a range's depth or number is not kept.
int range_push(const char* message) {
  return look_at(message), nvtx::kNoTracking;
}
int range_push_wide(const wchar_t* message) {
  return look_at(message), nvtx::kNoTracking;
}
int range_push_event(const nvtx::Event* event) {
  return look_at(event), nvtx::kNoTracking;
}
int domain_range_push(void*, const nvtx::Event* event) {
  return look_at(event), nvtx::kNoTracking;
}
uint64_t range_start(const char* message) {
  return look_at(message), 0;
}
uint64_t range_start_wide(const wchar_t* message) {
  return look_at(message), 0;
}
uint64_t range_start_event(const nvtx::Event* event) {
  return look_at(event), 0;
}
uint64_t domain_range_start(void*, const nvtx::Event* event) {
  return look_at(event), 0;
}
void mark(const char* message) {
  look_at(message);
}
void mark_wide(const wchar_t* message) {
  look_at(message);
}
void mark_event(const nvtx::Event* event) {
  look_at(event);
}
void domain_mark(void*, const nvtx::Event* event) {
  look_at(event);
}
// A copy is kept for ever: names are few.
void* register_string(void*, const char* string) {
  return string == nullptr ? nullptr : ::strdup(string);
}

template <class Function>
void want(nvtx::Table table, unsigned size, unsigned number, Function* function) {
  if (number < size && table[number] != nullptr) {
    *table[number] = reinterpret_cast<void (*)()>(function);
  }
}

bool attach(nvtx::GetExportTable get) {
  const auto* callbacks = static_cast<const nvtx::Callbacks*>(get(nvtx::kCallbacks));
  if (callbacks == nullptr || callbacks->size < sizeof(nvtx::Callbacks)) return false;
  nvtx::Table table = nullptr;
  unsigned size = 0;
  if (callbacks->table_of(nvtx::kCore, &table, &size) != 0) {
    want(table, size, nvtx::kMarkEx, mark_event);
    want(table, size, nvtx::kMarkA, mark);
    want(table, size, nvtx::kMarkW, mark_wide);
    want(table, size, nvtx::kRangeStartEx, range_start_event);
    want(table, size, nvtx::kRangeStartA, range_start);
    want(table, size, nvtx::kRangeStartW, range_start_wide);
    want(table, size, nvtx::kRangePushEx, range_push_event);
    want(table, size, nvtx::kRangePushA, range_push);
    want(table, size, nvtx::kRangePushW, range_push_wide);
  }
  if (callbacks->table_of(nvtx::kCore2, &table, &size) != 0) {
    want(table, size, nvtx::kDomainMarkEx, domain_mark);
    want(table, size, nvtx::kDomainRangeStartEx, domain_range_start);
    want(table, size, nvtx::kDomainRangePushEx, domain_range_push);
    want(table, size, nvtx::kDomainRegisterStringA, register_string);
  }
  return true;
}

}  // namespace
}  // namespace headway::recorder

extern "C" {

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    headway::recorder::nvtx::GetExportTable get) {
  using namespace headway::recorder;
  name_of_step = ::getenv("HEADWAY_RECORD_STEP_RANGE");
  if (name_of_step == nullptr || *name_of_step == '\0') return 0;
  return attach(get) ? 1 : 0;
}

__attribute__((visibility("default"))) void headway_nvtx_tell(void (*step)()) {
  headway::recorder::told.store(step, std::memory_order_release);
}
}
