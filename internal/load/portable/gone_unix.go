//go:build unix

package portable

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// gone says, without waiting, whether the other side has closed an idle connection or sent what
// nobody asked for. A connection that does not let itself be looked at is not gone.
func gone(conn net.Conn) bool {
	var one [1]byte
	switch c := conn.(type) {
	case *http2Conn:
		return !c.usable()
	case *tls.Conn:
		// TLS has messages of its own, such as session tickets and the end: it has to read them.
		underTLS, ok := c.NetConn().(*underTLS)
		if !ok {
			return false
		}
		underTLS.noWait = true
		defer func() { underTLS.noWait = false }()
		_, err := c.Read(one[:])
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	_, err := readNoWait(conn, one[:], unix.MSG_PEEK)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// Read reads what is there if it is to be at once: a timeout without waiting where nothing is.
func (b *underTLS) Read(p []byte) (int, error) {
	if !b.noWait {
		return b.Conn.Read(p)
	}
	n, err := readNoWait(b.Conn, p, 0)
	if n == 0 && err == nil {
		err = net.ErrClosed
	}
	return n, err
}

// look reads from conn without waiting, with a timeout where there is nothing, or where that cannot
// be known. No bytes and no error are the end.
func readNoWait(conn net.Conn, p []byte, flags int) (n int, err error) {
	sys, ok := conn.(syscall.Conn)
	if !ok {
		return 0, os.ErrDeadlineExceeded
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return 0, os.ErrDeadlineExceeded
	}
	failed := raw.Control(func(fd uintptr) { n, _, err = unix.Recvfrom(int(fd), p, flags|unix.MSG_DONTWAIT) })
	if failed != nil || err == unix.EAGAIN || err == unix.EINTR {
		return 0, os.ErrDeadlineExceeded
	}
	return max(n, 0), err
}
