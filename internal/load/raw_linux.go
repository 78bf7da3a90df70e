package load

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of every request go past the scheduler of Go (RawSyscall): they never wait, as the sockets are non-blocking, and
// telling the scheduler of each would cost as much as parsing the answer. A stop of the world waits for one of them at
// most, some microseconds.

// read takes what a socket has. 0 and no error is the end of the connection.
func read(fd int32, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), errno
}

// write gives a socket what it takes.
func write(fd int32, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// pollNow takes the events that are there, without waiting.
func pollNow(epoll int, events []unix.EpollEvent) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	return int(n), errno
}
