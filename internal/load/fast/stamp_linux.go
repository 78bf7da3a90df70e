package fast

import (
	"encoding/binary"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// StampReader reads from sockets, together with the time at which the kernel received the last
// byte. That time ends a response for which the thread had to be woken. The wake-up takes tens of
// microseconds or more on a busy machine, and is the client's time, not the contender's.
type StampReader struct {
	head    unix.Msghdr
	vector  unix.Iovec
	control [64]byte
}

// minSleep is the sleep after which a thread wakes up slowly, as its CPU is in a power-saving state
// or busy with other work. After shorter sleeps the clock is as exact as the timestamp, which makes
// reading more expensive.
const minSleep = 100 * time.Microsecond

// EnableStamps enables timestamps for a socket. Without them a response ends when it is read.
func EnableStamps(fd int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// Read reads what a socket has; 0 without an error is the end of the connection. at is ns since
// 1970 by the machine's clock, 0 if unknown.
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

// stampIn finds the timestamp in control messages of 64-bit systems: length, level, type, seconds,
// nanoseconds. It returns 0 if there is none.
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

// wakeupDelay returns how long before now the kernel received what it stamped with at. It returns 0
// if unknown or impossible, as after a clock change: a response never comes before its request is
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
