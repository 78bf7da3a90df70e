//go:build linux

// Command burner is an HTTP contender that burns CPU, such as 200µs, of CPU time in each request,
// after it has waited for WAIT. With LOCK one request burns at a time.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	each, err := time.ParseDuration(os.Getenv("CPU"))
	wait, _ := time.ParseDuration(os.Getenv("WAIT"))
	if err == nil {
		err = run(ctx, each, wait)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "burner:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, each, wait time.Duration) error {
	var one sync.Mutex
	lock := os.Getenv("LOCK") != ""
	server := &http.Server{
		Addr: net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")), ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(wait)
			if lock {
				one.Lock()
			}
			burn(each)
			if lock {
				one.Unlock()
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":1}`)
		}),
	}
	done := make(chan error, 1)
	go func() { done <- server.ListenAndServe() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	soon, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := server.Shutdown(soon)
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		return served
	}
	return err
}

// burn returns after CPU time of this thread, without the time in which a quota stops it.
func burn(each time.Duration) {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	for start := threadTime(); threadTime()-start < each; {
	}
}

func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}
