package fast

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locbench/internal/load/wire"
)

// dial begins to open c for its request.
func (s *shard) dial(c *conn, i int) {
	c.state = connecting
	if c.refused = s.dialTo(c, i); c.refused != nil {
		// Not from here: what comes next may be refused at once, too, and so on.
		s.refused = append(s.refused, int32(i))
	}
}

// failRefused ends the exchanges whose connections were refused in the turn before.
func (s *shard) failRefused() {
	for n := len(s.refused); n > 0; n-- {
		i := s.refused[0]
		s.refused = append(s.refused[:0], s.refused[1:]...)
		if c := &s.conns[i]; c.refused != nil && c.state == connecting {
			err := c.refused
			c.refused = nil
			s.fail(c, int(i), s.now(), err)
		}
	}
}

// dialTo opens a socket and begins to connect it.
func (s *shard) dialTo(c *conn, i int) error {
	to := s.addrs[s.loop.addr.Load()]
	family := unix.AF_INET
	if _, six := to.(*unix.SockaddrInet6); six {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	c.fd = int32(fd)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // without it, a little slower at worst
	EnableStamps(fd)
	if err := unix.Connect(fd, to); err != nil && !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.EINTR) {
		return os.NewSyscallError("connect", err)
	}
	if s.running {
		s.pollRing(c, i)
		return nil
	}
	err = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: arrivals | room, Fd: int32(i)})
	return os.NewSyscallError("epoll_ctl", err)
}

// dialled returns what became of the connecting of c; its interest is in answers then.
func (s *shard) finishDial(c *conn, i int) error {
	errno, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	if err == nil && connectedToItself(int(c.fd)) {
		err = syscall.ECONNREFUSED
	}
	if err != nil {
		return os.NewSyscallError("connect", err)
	}
	if s.running {
		s.receiveRing(c, i)
		return nil
	}
	s.interest(c, i, arrivals)
	return nil
}

// withItself says whether a socket is connected to itself. That is what TCP makes of a port of this machine at which
// nobody listens when the kernel chances to choose that port for the near end, too: requests would come back as
// answers.
func connectedToItself(fd int) bool {
	near, err := unix.Getsockname(fd)
	if err != nil {
		return false
	}
	far, err := unix.Getpeername(fd)
	if err != nil {
		return false
	}
	switch near := near.(type) {
	case *unix.SockaddrInet4:
		far, ok := far.(*unix.SockaddrInet4)
		return ok && near.Port == far.Port && near.Addr == far.Addr
	case *unix.SockaddrInet6:
		far, ok := far.(*unix.SockaddrInet6)
		return ok && near.Port == far.Port && near.Addr == far.Addr
	}
	return false
}

// connected proceeds with the request for which c was opened. If that has been closed already the
// request is not sent, and what has come before the end is its response.
func (s *shard) connected(c *conn, i int, closed bool) {
	err := s.finishDial(c, i)
	if !wire.Opened(err) {
		s.fail(c, i, s.now(), err)
		return
	}
	if c.opened {
		s.counters.Reopened++
	}
	c.opened = true
	c.failures = 0
	c.state = waiting
	switch {
	case err != nil:
		s.fail(c, i, s.now(), err)
	case !closed:
		s.send(c, i)
	case s.ring == nil:
		s.read(c, i, hangUps)
	}
}

// connectAll opens what is not open yet, wire.Dialers at a time, until then at the latest. A
// failure is met again, and then counted, by the first request. The later connections of a ramp are
// opened when they begin: a contender need not keep a connection that is not used.
func (s *shard) connectAll(ctx context.Context, until time.Time) {
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	todo, dialling, want := 0, 0, len(s.conns)
	if s.open != nil {
		want = s.open.initial
	}
	if s.open == nil || !s.open.users() { // users have connections of their own
		s.reuse()
	}
	for {
		for ; todo < want && dialling < wire.Dialers; todo++ {
			c := &s.conns[todo]
			if c.fd >= 0 || !s.rec.BeginsEarly(s.globalIndex(todo)) {
				continue
			}
			if err := s.dialTo(c, todo); err != nil {
				s.hangUp(c)
				continue
			}
			c.state = connecting
			dialling++
		}
		left := time.Until(until)
		if dialling == 0 || left <= 0 || ctx.Err() != nil {
			break
		}
		s.events = s.events[:cap(s.events)]
		n, err := unix.EpollWait(s.epoll, s.events, int(left/time.Millisecond)+1)
		if err != nil {
			continue // interrupted
		}
		for _, e := range s.events[:n] {
			if e.Fd == wakeIndex {
				s.drainWake()
				continue
			}
			c := &s.conns[e.Fd]
			if c.state != connecting {
				continue
			}
			dialling--
			c.state = idle
			err := s.finishDial(c, int(e.Fd))
			if c.opened = wire.Opened(err); err != nil {
				s.hangUp(c)
			}
		}
	}
	for i := range s.conns {
		c := &s.conns[i]
		if c.state == connecting || c.fd >= 0 && socket(c.fd).gone() { // epoll reports that once, and it may have
			c.state = idle
			s.hangUp(c)
		}
	}
}

// anyOpened says whether any connection is open, or has been.
func (s *shard) anyOpened() bool {
	return slices.ContainsFunc(s.conns, func(c conn) bool { return c.opened })
}
