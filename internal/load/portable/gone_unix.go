//go:build unix

package portable

import (
	"crypto/tls"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// gone tells, without waiting, whether the other side has closed an idle connection or sent what
// nobody asked for. A connection that does not let itself be looked at is not gone.
func gone(conn net.Conn) bool {
	if two, ok := conn.(*http2Conn); ok {
		return !two.usable()
	}
	secure, encrypted := conn.(*tls.Conn)
	if encrypted {
		conn = secure.NetConn()
	}
	sys, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return false
	}
	// The deadline of the last exchange may have passed, and then nothing would be looked at.
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return true
	}
	n, peeked := 0, error(nil)
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, peeked = unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		return true
	})
	if err != nil || peeked == unix.EAGAIN || peeked == unix.EINTR {
		return false
	}
	// TLS has messages of its own (session tickets) that wait for the next reading.
	return peeked != nil || n == 0 || !encrypted
}
