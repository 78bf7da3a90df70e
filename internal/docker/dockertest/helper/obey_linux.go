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

// obey listens and does what the path says, then responds: GET /spin?n=N (N busy threads until the
// next /spin), /burn?n=N (N loops of 64 multiplications), /touch?n=N (touches N MiB and gives them
// back to the kernel), /yield?n=N (N sleeps of 20 µs), /send?n=N (a body of N bytes), /cpu?n=N
// (uses N µs of CPU time, as the kernel counts them for its thread), /spent (a body with the CPU
// time in ns that the kernel has counted for this process, and the number of completed requests to
// /cpu).
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

// useCPU uses d of CPU time on one thread.
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

// touch writes to every page of a new mapping and unmaps it, which gives the memory back to the
// kernel. It prevents large pages, so each small page is one countable fault.
func touch(bytes int) error {
	m, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	if err := syscall.Madvise(m, syscall.MADV_NOHUGEPAGE); err != nil && err != syscall.EINVAL { // no large pages
		return err
	}
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
	return syscall.Munmap(m)
}

// yield gives up the CPU n times: each sleep is at least one voluntary context switch.
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
