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

// watch returns what reports, without waiting, whether the contender has closed an idle connection or
// sent something without a request. A connection that cannot be checked counts as open.
func watch(conn net.Conn) (gone func() bool) {
	switch c := conn.(type) {
	case *http2Conn:
		return func() bool { return !c.usable() }
	case *tls.Conn:
		underTLS, ok := c.NetConn().(*underTLS)
		return func() bool { return ok && goneTLS(c, underTLS) }
	}
	raw := rawConn(conn)
	fds := []unix.PollFd{{Events: unix.POLLIN}}
	look := func(fd uintptr) {
		fds[0].Fd, fds[0].Revents = int32(fd), 0
		_, _ = unix.Poll(fds, 0) // an error says nothing about the connection
	}
	return func() bool { return raw != nil && raw.Control(look) == nil && fds[0].Revents != 0 }
}

// goneTLS reads: TLS has its own messages, such as session tickets and the end.
func goneTLS(c *tls.Conn, under *underTLS) bool {
	var one [1]byte
	under.noWait = true
	defer func() { under.noWait = false }()
	_, err := c.Read(one[:])
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// Read reads; with noWait it returns a timeout at once if nothing has arrived.
func (b *underTLS) Read(p []byte) (n int, err error) {
	if !b.noWait {
		return b.Conn.Read(p)
	}
	raw := rawConn(b.Conn)
	if raw == nil {
		return 0, os.ErrDeadlineExceeded
	}
	failed := raw.Control(func(fd uintptr) { n, _, err = unix.Recvfrom(int(fd), p, unix.MSG_DONTWAIT) })
	if failed != nil || err == unix.EAGAIN || err == unix.EINTR {
		return 0, os.ErrDeadlineExceeded
	}
	if n <= 0 && err == nil {
		err = net.ErrClosed
	}
	return max(n, 0), err
}

// rawConn returns nil if conn has none.
func rawConn(conn net.Conn) syscall.RawConn {
	sys, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, _ := sys.SyscallConn() // nil with an error
	return raw
}
