//go:build linux

// Command reference is the reference contender with SLOWER more CPU time per request, such as 8µs.
// With 0s it is the reference contender. It counts requests by the lines of the request log, so the
// contender's code is the same.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/locbench/locbench/services/go-nethttp/locations"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	each, err := time.ParseDuration(os.Getenv("SLOWER"))
	if err == nil {
		err = run(ctx, each)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "slowed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, each time.Duration) error {
	var log io.Writer = os.Stdout
	if each > 0 {
		b := &burner{w: os.Stdout, each: each, more: make(chan struct{}, 1)}
		go b.burn()
		log = b
	}
	cfg, err := locations.ConfigFromEnv(os.Getenv, log)
	if err != nil {
		return err
	}
	return locations.Run(ctx, cfg)
}

// burner burns CPU time for each line that is written.
type burner struct {
	w    io.Writer
	each time.Duration
	owed atomic.Int64 // nanoseconds
	more chan struct{}
}

// Write implements io.Writer. The CPU time is burnt in parallel to the requests, not between them.
func (b *burner) Write(p []byte) (int, error) {
	b.owed.Add(int64(bytes.Count(p, []byte("\n"))) * int64(b.each))
	select {
	case b.more <- struct{}{}:
	default:
	}
	return b.w.Write(p)
}

// burn never returns. It burns in small pieces, so no request waits long for a thread.
func (b *burner) burn() {
	const piece = 100 * time.Microsecond
	runtime.LockOSThread() // the clock is the thread's
	for range b.more {
		for last := threadTime(); b.owed.Load() > 0; {
			now := threadTime()
			for now-last < piece {
				now = threadTime()
			}
			b.owed.Add(-int64(now - last))
			last = now // the cost of yielding counts for the next piece
			runtime.Gosched()
		}
	}
}

// threadTime returns the CPU time of this thread, without the time in which a quota stops it.
func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}
