package fast

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locbench/internal/load/stamp"
	"locbench/internal/load/wire"
)

// dial begins to open c for its request, which is in c.rest.
func (s *shard) dial(c *conn, i int) {
	c.doing = connecting
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
		if c := &s.conns[i]; c.refused != nil && c.doing == connecting {
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
	stamp.Enable(fd)
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

// dialled tells what became of the connecting of c; its interest is in answers then.
func (s *shard) dialled(c *conn, i int) error {
	errno, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
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

// connected goes on with the request for which c was opened.
func (s *shard) connected(c *conn, i int) {
	if err := s.dialled(c, i); err != nil {
		s.fail(c, i, s.now(), err)
		return
	}
	s.counters.Opened++
	c.ever = true
	c.failures = 0
	c.doing = waiting
	s.send(c, i, c.rest)
}

// connectAll opens what is not open yet, wire.Dialers at a time, until then at the latest. A
// failure is met again, and then counted, by the first request.
func (s *shard) connectAll(ctx context.Context, until time.Time) {
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	todo, dialling, want := 0, 0, len(s.conns)
	if s.open != nil {
		want = s.open.early
	}
	if s.open == nil || s.open.schedule != nil { // users have connections of their own
		s.reuse()
	}
	for {
		for ; todo < want && dialling < wire.Dialers; todo++ {
			c := &s.conns[todo]
			if c.fd >= 0 {
				continue
			}
			if err := s.dialTo(c, todo); err != nil {
				s.hangUp(c)
				continue
			}
			c.doing = connecting
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
			if c.doing != connecting {
				continue
			}
			dialling--
			c.doing = idle
			if s.dialled(c, int(e.Fd)) != nil {
				s.hangUp(c)
				continue
			}
			c.ever = true
		}
	}
	for i := range s.conns {
		if c := &s.conns[i]; c.doing == connecting {
			c.doing = idle
			s.hangUp(c)
		}
	}
}

// opened is the number of connections that are open.
func (s *shard) opened() (n int) {
	for i := range s.conns {
		if s.conns[i].fd >= 0 {
			n++
		}
	}
	return n
}

// places is the number of connections that there are: in an open loop those that have been needed
// so far.
func (s *shard) places() int {
	if s.open == nil {
		return len(s.conns)
	}
	n := 0
	for i := range s.conns {
		if s.conns[i].ever {
			n++
		}
	}
	return n
}
