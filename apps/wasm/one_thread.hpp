// The threads of libc++ where there is one: <__external_threading> of the run-time that
// scripts/wasm-libraries builds. A lock is always free, nobody is ever waited for, and a thread
// cannot be made.
#pragma once

#include <__chrono/duration.h>
#include <errno.h>

#include <__config>

_LIBCPP_BEGIN_NAMESPACE_STD

using __libcpp_timespec_t = ::timespec;

struct __libcpp_mutex_t {
  bool __held;
};
#define _LIBCPP_MUTEX_INITIALIZER \
  { false }
struct __libcpp_recursive_mutex_t {
  int __depth;
};
inline int __libcpp_recursive_mutex_init(__libcpp_recursive_mutex_t*) {
  return 0;
}
inline int __libcpp_recursive_mutex_lock(__libcpp_recursive_mutex_t*) {
  return 0;
}
inline bool __libcpp_recursive_mutex_trylock(__libcpp_recursive_mutex_t*) {
  return true;
}
inline int __libcpp_recursive_mutex_unlock(__libcpp_recursive_mutex_t*) {
  return 0;
}
inline int __libcpp_recursive_mutex_destroy(__libcpp_recursive_mutex_t*) {
  return 0;
}
// Locked twice by the one thread there is: on more than one it would wait for ever.
inline int __libcpp_mutex_lock(__libcpp_mutex_t* mutex) {
  if (mutex->__held) __builtin_trap();
  mutex->__held = true;
  return 0;
}
inline bool __libcpp_mutex_trylock(__libcpp_mutex_t* mutex) {
  if (mutex->__held) return false;
  mutex->__held = true;
  return true;
}
inline int __libcpp_mutex_unlock(__libcpp_mutex_t* mutex) {
  mutex->__held = false;
  return 0;
}
inline int __libcpp_mutex_destroy(__libcpp_mutex_t*) {
  return 0;
}

struct __libcpp_condvar_t {};
#define _LIBCPP_CONDVAR_INITIALIZER \
  {}
inline int __libcpp_condvar_signal(__libcpp_condvar_t*) {
  return 0;
}
inline int __libcpp_condvar_broadcast(__libcpp_condvar_t*) {
  return 0;
}
[[noreturn]] inline int __libcpp_condvar_wait(__libcpp_condvar_t*, __libcpp_mutex_t*) {
  __builtin_trap();
}
inline int __libcpp_condvar_timedwait(__libcpp_condvar_t*, __libcpp_mutex_t*,
                                      __libcpp_timespec_t*) {
  return ETIMEDOUT;
}
inline int __libcpp_condvar_destroy(__libcpp_condvar_t*) {
  return 0;
}

using __libcpp_exec_once_flag = bool;
#define _LIBCPP_EXEC_ONCE_INITIALIZER false
inline int __libcpp_execute_once(__libcpp_exec_once_flag* flag, void (*once)()) {
  if (!*flag) {
    *flag = true;
    once();
  }
  return 0;
}

using __libcpp_thread_id = int;
inline bool __libcpp_thread_id_equal(__libcpp_thread_id one, __libcpp_thread_id other) {
  return one == other;
}
inline bool __libcpp_thread_id_less(__libcpp_thread_id one, __libcpp_thread_id other) {
  return one < other;
}
using __libcpp_thread_t = int;
#define _LIBCPP_NULL_THREAD 0
inline __libcpp_thread_id __libcpp_thread_get_id(const __libcpp_thread_t* thread) {
  return *thread;
}
inline bool __libcpp_thread_isnull(const __libcpp_thread_t* thread) {
  return *thread == 0;
}
inline int __libcpp_thread_create(__libcpp_thread_t*, void* (*)(void*), void*) {
  return EAGAIN;
}
inline __libcpp_thread_id __libcpp_thread_get_current_id() {
  return 1;
}
inline int __libcpp_thread_join(__libcpp_thread_t*) {
  return 0;
}
inline int __libcpp_thread_detach(__libcpp_thread_t*) {
  return 0;
}
inline void __libcpp_thread_yield() {}
inline void __libcpp_thread_sleep_for(const chrono::nanoseconds&) {}

using __libcpp_tls_key = void**;
#define _LIBCPP_TLS_DESTRUCTOR_CC
inline int __libcpp_tls_create(__libcpp_tls_key* key, void (*)(void*)) {
  *key = new void*(nullptr);
  return 0;
}
inline void* __libcpp_tls_get(__libcpp_tls_key key) {
  return *key;
}
inline int __libcpp_tls_set(__libcpp_tls_key key, void* value) {
  *key = value;
  return 0;
}

_LIBCPP_END_NAMESPACE_STD
