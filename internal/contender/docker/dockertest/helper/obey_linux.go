//go:build acceptance

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// obey listens and does what is asked for: GET /spin?n=2 (busy threads until the next /spin),
// /burn?n=1000000 (so many loops of 64 multiplications, then answers), /touch?n=40 (touches so many
// MiB, gives them back to the kernel, then answers), /yield?n=1000 (so many sleeps of a moment,
// then answers), /send?n=1000000 (answers with so many bytes), /cpu?n=2000 (uses so many
// microseconds of CPU time, as the kernel counts them for its thread, then answers), /spent
// (answers with the CPU time in ns that the kernel has counted for this process, and how many
// requests to /cpu were answered).
func obey(port string) {
	mux := http.NewServeMux()
	var mu sync.Mutex
	stop := make(chan struct{})
	handle := func(path string, do func(w http.ResponseWriter, n int) error) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			n, err := strconv.Atoi(r.FormValue("n"))
			if err == nil {
				err = do(w, n)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
			}
		})
	}
	handle("/spin", func(_ http.ResponseWriter, n int) error {
		mu.Lock()
		defer mu.Unlock()
		close(stop)
		stop = make(chan struct{})
		for range n {
			go spinUntil(stop)
		}
		return nil
	})
	var answered atomic.Int64
	place := make(chan struct{}, 2) // others wait in line
	handle("/cpu", func(_ http.ResponseWriter, n int) error {
		place <- struct{}{}
		defer func() { answered.Add(1); <-place }()
		return useCPU(time.Duration(n) * time.Microsecond)
	})
	mux.HandleFunc("/spent", func(w http.ResponseWriter, _ *http.Request) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, u.Utime.Nano()+u.Stime.Nano(), answered.Load())
	})
	handle("/burn", func(_ http.ResponseWriter, n int) error { burn(n); return nil })
	handle("/touch", func(_ http.ResponseWriter, n int) error { return touch(n << 20) })
	handle("/yield", func(_ http.ResponseWriter, n int) error { return yield(n) })
	handle("/send", func(w http.ResponseWriter, n int) error {
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, err := io.CopyN(w, zeros{}, int64(n))
		return err
	})
	fmt.Println("listening on", port)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(":"+port, mux))
	os.Exit(1)
}

func spinUntil(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
			burn(1000)
		}
	}
}

// useCPU uses so much CPU time on one thread.
func useCPU(d time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return err
	}
	for until := now.Nano() + int64(d); now.Nano() < until; {
		burn(10)
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
			return err
		}
	}
	return nil
}

// burn keeps one CPU busy for a number of loops.
func burn(loops int) {
	x := uint64(loops) | 1
	for range loops {
		for range 64 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	spun.Store(x)
}

// touch writes to every page of its own mapping, and unmaps it: the memory is the kernel's
// again when it returns. Pages are small ones also where the kernel would rather give large ones,
// so that their faults can be counted.
func touch(bytes int) error {
	m, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	if err := syscall.Madvise(m, syscall.MADV_NOHUGEPAGE); err != nil && err != syscall.EINVAL { // it has no large ones
		return err
	}
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
	return syscall.Munmap(m)
}

// yield gives the CPU up so many times: a sleep is one voluntary switch at least.
func yield(n int) error {
	moment := syscall.NsecToTimespec(20_000)
	for range n {
		if err := syscall.Nanosleep(&moment, nil); err != nil && err != syscall.EINTR {
			return err
		}
	}
	return nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
