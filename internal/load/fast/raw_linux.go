package fast

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of every request go past the scheduler of Go (RawSyscall): they never wait, as
// the sockets are non-blocking, and telling the scheduler of each would cost as much as parsing the
// answer. A stop of the world waits for one of them at most, some microseconds.

// kernelTime is the kernel's __kernel_timespec, which has 64 bits twice on every machine:
// unix.Timespec has 32 on those of 32 bits.
type kernelTime struct{ sec, nsec int64 }

func nsToKernel(ns int64) kernelTime { return kernelTime{ns / 1e9, ns % 1e9} }

// read takes what a socket has. 0 and no error is the end of the connection.
func read(fd int32, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), errno
}

// write gives a socket what it takes.
func write(fd int32, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// poll waits for events, for so many ns at most; less than 0 is without end. It informs the
// scheduler.
func poll(epoll int, events []unix.EpollEvent, ns int64) (int, syscall.Errno) {
	var timeout *kernelTime
	if ns >= 0 {
		t := nsToKernel(ns)
		timeout = &t
	}
	n, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epoll),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(unsafe.Pointer(timeout)), 0, 0)
	if errno == syscall.ENOSYS { // before Linux 5.11: in milliseconds, rather too early than too late
		ms := -1
		if ns >= 0 {
			ms = int(min(ns/1_000_000, 1000))
		}
		n, err := unix.EpollWait(epoll, events, ms)
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
