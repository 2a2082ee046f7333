// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A function with a stack of its own, which is suspended and resumed: what the shim makes threads of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#ifndef __x86_64__
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define DBC_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DBC_FIBER_ASAN 1
#endif
#endif
#ifdef DBC_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace dbc::cuda::shim {

#ifdef __x86_64__
/// Puts what a function must keep on the stack, the stack's end into *from, and goes on with another stack.
__attribute__((naked, noinline)) inline void switch_stacks(void ** /*from*/, void * /*to*/) {
  asm("pushq %rbp\n"
      "pushq %rbx\n"
      "pushq %r12\n"
      "pushq %r13\n"
      "pushq %r14\n"
      "pushq %r15\n"
      "movq %rsp, (%rdi)\n"
      "movq %rsi, %rsp\n"
      "popq %r15\n"
      "popq %r14\n"
      "popq %r13\n"
      "popq %r12\n"
      "popq %rbx\n"
      "popq %rbp\n"
      "ret");
}
#endif

/// Of one thread of the host; begins, goes on and ends there.
class Fiber {
public:
#ifdef DBC_FIBER_ASAN
  Fiber() = default;
  Fiber(Fiber &&) = default; // of one that is not between its beginning and its end
  /// Has the sanitizer forget the fiber, which it does at the end of a function alone.
  ~Fiber() {
    if (!stack_)
      return;
    is_last_ = true;
    begin([] {});
    go_on();
  }
#endif

  /// What goes_on() is to run from its beginning. A function that did not end is given up: nothing on its
  /// stack is destroyed.
  void begin(void (*function)()) {
    if (!stack_)
      stack_.reset(new unsigned char[kStack]);
    function_ = function;
#ifdef __x86_64__
    auto **top =
        reinterpret_cast<void **>((reinterpret_cast<uintptr_t>(stack_.get()) + kStack) & ~uintptr_t(15));
    *--top = nullptr; // a function begins 8 bytes behind a multiple of 16
    *--top = reinterpret_cast<void *>(&Fiber::start);
    for (int32_t kept = 0; kept < 6; ++kept)
      *--top = nullptr;
    own_ = top;
#else
    getcontext(&own_);
    own_.uc_stack.ss_sp = stack_.get();
    own_.uc_stack.ss_size = kStack;
    own_.uc_link = nullptr;
    makecontext(&own_, &Fiber::start, 0);
#endif
  }

  /// Until the function ends or calls leave().
  void go_on() {
    running() = this;
#ifdef DBC_FIBER_ASAN
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack_.get(), kStack);
#endif
    change(host_, own_);
#ifdef DBC_FIBER_ASAN
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  }

  /// Of the function that runs: back to who called go_on().
  void leave() {
#ifdef DBC_FIBER_ASAN
    __sanitizer_start_switch_fiber(&fake_stack_, host_stack_, host_stack_bytes_);
#endif
    change(own_, host_);
    arrive();
  }

private:
  static constexpr size_t kStack = 256 << 10;
  static Fiber *&running() {
    static thread_local Fiber *fiber = nullptr;
    return fiber;
  }

  static void start() {
    Fiber &fiber = *running();
    fiber.arrive();
    fiber.function_();
#ifdef DBC_FIBER_ASAN
    // What the sanitizer keeps of a fiber takes longer to make than most functions: the next one has it
    // again.
    __sanitizer_start_switch_fiber(fiber.is_last_ ? nullptr : &fiber.fake_stack_, fiber.host_stack_,
                                   fiber.host_stack_bytes_);
#endif
    change(fiber.own_, fiber.host_);
  }
  void arrive() {
#ifdef DBC_FIBER_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, &host_stack_, &host_stack_bytes_);
#endif
  }

#ifdef __x86_64__
  using SavedContext = void *;
  static void change(SavedContext &from, SavedContext &to) { switch_stacks(&from, to); }
#else
  using SavedContext = ucontext_t;
  static void change(SavedContext &from, SavedContext &to) { swapcontext(&from, &to); }
#endif

  std::unique_ptr<unsigned char[]> stack_;
  void (*function_)() = nullptr;
  SavedContext own_{}, host_{};
#ifdef DBC_FIBER_ASAN
  void *fake_stack_ = nullptr;
  const void *host_stack_ = nullptr;
  size_t host_stack_bytes_ = 0;
  bool is_last_ = false;
#endif
};

} // namespace dbc::cuda::shim
