package fast

import (
	"encoding/binary"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// StampReader reads from sockets together with the moment at which the kernel took in the last of what
// was read. That moment is the end of a response for which the thread had to be woken up first: how
// long that takes is the machine's and the client's doing, some tens of microseconds and more on a
// busy one, and says nothing about the contender.
type StampReader struct {
	head    unix.Msghdr
	vector  unix.Iovec
	control [64]byte
}

// minSleep is how long a thread has slept when it is slow to wake up: its CPU has gone to rest, or does
// something else. After shorter sleeps the clock is as good as the stamp, which makes reading more expensive.
const minSleep = 100 * time.Microsecond

// EnableStamps turns stamps on for a socket. Without them the response ends when it is read.
func EnableStamps(fd int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// Read takes what a socket has; 0 and no error is the end of the connection. at is ns since 1970 by
// the machine's clock, 0: not known.
func (r *StampReader) Read(fd int32, b []byte) (n int, at int64, errno syscall.Errno) {
	r.vector.Base = unsafe.SliceData(b)
	r.vector.SetLen(len(b))
	r.head.Iov = &r.vector
	r.head.SetIovlen(1)
	r.head.Control = &r.control[0]
	r.head.SetControllen(len(r.control))
	got, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.head)), 0)
	if errno != 0 {
		return int(got), 0, errno
	}
	return int(got), stampIn(r.control[:min(int(r.head.Controllen), len(r.control))]), 0
}

// stampIn finds the stamp among control messages, as systems of 64 bits have it: length, level, type,
// seconds, nanoseconds.
func stampIn(control []byte) int64 {
	const head, whole = 16, 32
	if unsafe.Sizeof(uintptr(0)) != 8 || len(control) < whole {
		return 0
	}
	order := binary.NativeEndian
	if order.Uint64(control) != whole || order.Uint32(control[8:]) != unix.SOL_SOCKET ||
		order.Uint32(control[12:]) != unix.SCM_TIMESTAMPNS {
		return 0
	}
	return int64(order.Uint64(control[head:]))*int64(time.Second) + int64(order.Uint64(control[head+8:]))
}

// wakeupDelay returns how long ago, at now, the kernel took in what it has stamped with at; 0 where that is
// not known or cannot be, as after a jump of the clock: a response never came before its request was
// sent.
func wakeupDelay(now time.Time, at int64, sent time.Duration) time.Duration {
	if at == 0 {
		return 0
	}
	if ago := time.Duration(now.UnixNano() - at); ago > 0 && ago <= sent {
		return ago
	}
	return 0
}
