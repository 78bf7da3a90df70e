package fast

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the loops bypass the Go scheduler (RawSyscall). Those of every request never
// wait, as the sockets are non-blocking, and notifying the scheduler would cost as much as parsing
// the response. A stop of the world waits for at most one of them, some microseconds.
//
// Waiting for events is not announced either (thread.Wait).

// kernelTime is the kernel's __kernel_timespec: two 64-bit fields on every machine, unlike
// unix.Timespec.
type kernelTime struct{ sec, nsec int64 }

func nsToKernel(ns int64) kernelTime { return kernelTime{ns / 1e9, ns % 1e9} }

// read reads what a socket has. 0 without an error is the end of the connection.
func read(fd int32, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), errno
}

// write gives a socket as much as it takes.
func write(fd int32, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// poll waits for events for at most ns. A signal may end it early.
func (s *shard) poll(ns int64) (int, syscall.Errno) {
	s.timeLeft = nsToKernel(ns)
	n, errno := s.wait.Call(unix.SYS_EPOLL_PWAIT2, uintptr(s.epoll), uintptr(unsafe.Pointer(unsafe.SliceData(s.events))),
		uintptr(len(s.events)), uintptr(unsafe.Pointer(&s.timeLeft)), 0, 0)
	if errno == syscall.ENOSYS { // before Linux 5.11: in milliseconds, rounded down
		n, err := unix.EpollWait(s.epoll, s.events, int(ns/1_000_000))
		if err != nil {
			return 0, syscall.EINTR
		}
		return n, 0
	}
	return int(n), errno
}

// pollNow takes the events that are there, without waiting.
func pollNow(epoll int, events []unix.EpollEvent) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	return int(n), errno
}
