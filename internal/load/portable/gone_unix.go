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

// gone reports, without waiting, whether the contender has closed an idle connection or sent
// something without a request. A connection that cannot be checked counts as open.
func gone(conn net.Conn) bool {
	var one [1]byte
	switch c := conn.(type) {
	case *http2Conn:
		return !c.usable()
	case *tls.Conn:
		// TLS has its own messages, such as session tickets and the end: they have to be read.
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

// Read reads; with noWait it returns a timeout at once if nothing has arrived.
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

// readNoWait reads from conn without waiting. It returns a timeout if nothing has arrived or conn
// cannot be checked. No bytes without an error are the end.
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
