package fast

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is a kept connection of this loop.
type socket int32

// Close closes the socket.
func (f socket) Close() error { return unix.Close(int(f)) }

// gone reports whether the contender has closed the socket, or sent something without a request.
func (f socket) gone() bool {
	var b [1]byte
	_, _, err := unix.Recvfrom(int(f), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return !errors.Is(err, syscall.EAGAIN)
}

// key returns the name under which the shard's connections are kept.
func (s *shard) key() string {
	return "socket to " + s.loop.conf.Addresses[s.loop.addr.Load()].String()
}

// reuse gives kept connections to the shard, as many as there are.
func (s *shard) reuse() {
	for i := range s.conns {
		c := &s.conns[i]
		for c.fd < 0 {
			kept, ok := s.loop.conf.Keep.Take(s.key()).(socket)
			if !ok {
				return
			}
			add := &unix.EpollEvent{Events: arrivals, Fd: int32(i)}
			if kept.gone() || unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, int(kept), add) != nil {
				kept.Close()
				continue
			}
			c.fd, c.opened = int32(kept), true
		}
	}
}

// keepConnections keeps the open connections for the next step.
func (s *shard) keepConnections() {
	for i := range s.conns {
		if c := &s.conns[i]; c.fd >= 0 && c.state == idle {
			if s.running {
				_ = unix.SetNonblock(int(c.fd), true)
			}
			s.loop.conf.Keep.Put(s.key(), socket(c.fd)) // closing the epoll removes it from there
			c.fd = -1
		}
	}
}
