//go:build linux

package main

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// work is CPU time that each request costs besides.
type work time.Duration

// answer burns its own thread's CPU time, not the clock's: a quota that stops the thread meanwhile takes nothing from it.
func (w work) answer() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for end := threadTime() + time.Duration(w); threadTime() < end; {
		for i := range 200 {
			_ = i
		}
	}
}

// threadTime is the CPU time of this thread.
func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}
