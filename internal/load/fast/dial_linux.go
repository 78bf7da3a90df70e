package fast

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/load/wire"
)

// dial begins to open c for its request.
func (s *shard) dial(c *conn, i int) {
	c.state = connecting
	s.attend()
	if c.refused = s.dialTo(c, i); c.refused != nil {
		// Do not fail here: the next dial may be refused at once, too, and the stack would grow.
		s.refused = append(s.refused, int32(i))
	}
}

// failRefused ends the exchanges whose connections were refused in the batch before.
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
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // without it, sending is a little slower at worst
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

// finishDial returns the result of connecting c, and lets it receive.
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

// connectedToItself reports whether a socket is connected to itself. That happens when no process
// listens at a port of this machine and the kernel picks the same port for the local end. Requests
// would come back as responses.
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

// connected continues with the request for which c was opened. If the contender has closed c
// already, the request is not sent, and what came before the end is its response.
func (s *shard) connected(c *conn, i int, closed bool) {
	err := s.finishDial(c, i)
	if !wire.Opened(err) {
		s.fail(c, i, s.now(), err)
		return
	}
	if c.opened {
		s.counters.Reconnects++
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

// connectAll opens all connections, wire.Dialers at a time, until the given time at the latest. The
// first request meets a failure again, and only then is it counted. The later connections of a ramp
// open when they start: a contender may close an unused connection.
func (s *shard) connectAll(ctx context.Context, until time.Time) {
	stop := context.AfterFunc(ctx, s.waker.wake) // it may still run after stop
	defer stop()
	todo, dialing, want := 0, 0, len(s.conns)
	if s.open != nil {
		want = s.open.initial
	}
	if s.open == nil || !s.open.users() { // each user has a new connection
		s.reuse()
	}
	for {
		for ; todo < want && dialing < wire.Dialers; todo++ {
			c := &s.conns[todo]
			if c.fd >= 0 || !s.rec.BeginsEarly(s.globalIndex(todo)) {
				continue
			}
			if err := s.dialTo(c, todo); err != nil {
				s.hangUp(c)
				continue
			}
			c.state = connecting
			dialing++
		}
		left := time.Until(until)
		if dialing == 0 || left <= 0 || ctx.Err() != nil {
			break
		}
		s.events = s.events[:cap(s.events)]
		n, err := unix.EpollWait(s.epoll, s.events, int(left/time.Millisecond)+1)
		if err != nil {
			continue // EINTR
		}
		for _, e := range s.events[:n] {
			if e.Fd == wakeIndex {
				s.waker.drain()
				continue
			}
			c := &s.conns[e.Fd]
			if c.state != connecting {
				continue
			}
			dialing--
			c.state = idle
			err := s.finishDial(c, int(e.Fd))
			if c.opened = wire.Opened(err); err != nil {
				s.hangUp(c)
			}
		}
	}
	for i := range s.conns {
		c := &s.conns[i]
		if c.state == connecting || c.fd >= 0 && socket(c.fd).gone() { // epoll may have reported the end already
			c.state = idle
			s.hangUp(c)
		}
	}
}

// anyOpened reports whether any connection is open or has been.
func (s *shard) anyOpened() bool {
	return slices.ContainsFunc(s.conns, func(c conn) bool { return c.opened })
}
