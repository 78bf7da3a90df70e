package fast

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// waker ends the waits of one thread: an eventfd among what the thread waits for. Any goroutine may
// wake it at any time. A wake-up outlives what asked for it (the end of a context, a timer), so it
// may come when the loop is closed and another file or socket has its number. Therefore close waits
// for a wake-up that has begun, and later ones write nothing.
type waker struct {
	fd     int // belongs to the waker until close
	mu     sync.Mutex
	closed bool
}

// open makes the eventfd.
func (w *waker) open() (err error) {
	w.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return os.NewSyscallError("eventfd", err)
}

// wake ends the current wait of the thread, or its next one. After close it does nothing.
func (w *waker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	one := [8]byte{0: 1}
	_, _ = unix.Write(w.fd, one[:]) // it fails only when a wake-up is pending already
}

// drain takes the wake-ups so far, so the next one is noticed. Only the thread calls it.
func (w *waker) drain() {
	var n [8]byte
	_, _ = unix.Read(w.fd, n[:])
}

// close closes the eventfd. Call it when the thread waits no more.
func (w *waker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		unix.Close(w.fd)
	}
}
