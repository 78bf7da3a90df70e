package thread

import (
	"sync/atomic"
	"syscall"
	"time"
	_ "unsafe" // for go:linkname

	"golang.org/x/sys/unix"
)

// Wait makes waits that are not announced to the Go scheduler: the thread keeps its right to run Go
// code. Announced, each wait gives its processor away and gets it back, threads are woken for it, and
// the runtime's monitor has something to do. Each Wait belongs to one thread, which has called
// runtime.LockOSThread, and uses up one of GOMAXPROCS (see Tune).
//
// The monitor requests each thread that has run for 10 ms to make room. One that only waits has to
// make room for none, and doing so takes two other threads to wake up and lie down: as much as
// several requests. So these calls drop what was requested during a wait, but not all of it: what
// stops the world or scans a stack requests it again after some microseconds, and once in yieldEvery
// nothing is dropped, for processes without preemption by signals.
type Wait struct {
	ended   int64         // when a signal ended a wait last
	yielded int64         // when the last request could get through
	left    unix.Timespec // of a nap
}

// LongestWait bounds each wait. Without preemption by signals, stopping the world waits for it.
const LongestWait = 100 * time.Millisecond

const (
	again      = 5 * time.Millisecond // the monitor requests it every 10 ms at most
	yieldEvery = 400 * time.Millisecond
)

// Call makes a system call that waits. A signal may end it early (EINTR).
//
//go:uintptrescapes
func (w *Wait) Call(trap, a1, a2, a3, a4, a5, a6 uintptr) (uintptr, syscall.Errno) {
	procPin()
	r, _, errno := syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
	now := nanotime() // not by package time: any call that checks the stack drops the request
	switch {
	case driving.Load() == 0:
	case errno == syscall.EINTR && now-w.ended < int64(again), now-w.yielded > int64(yieldEvery):
		w.yielded = now
	default:
		drop(&dropped)
	}
	if errno == syscall.EINTR {
		w.ended = now
	}
	procUnpin()
	return r, errno
}

var driving atomic.Int32

// Driving says that load is driven until done is called. Only then are requests to make room dropped:
// before it, the world is stopped to collect garbage.
func Driving() (done func()) {
	driving.Add(1)
	return func() { driving.Add(-1) }
}

// dropped keeps the compiler from leaving out drop.
var dropped atomic.Int64

// drop has a stack frame. Its check of the stack meets the request, and as the thread is pinned, that
// is forgotten.
//
//go:noinline
func drop(to *atomic.Int64) {
	var frame [256]byte
	frame[to.Load()&255] = 1
	if frame[(to.Load()+1)&255] != 0 {
		to.Add(1)
	}
}

//go:linkname nanotime runtime.nanotime
func nanotime() int64

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
