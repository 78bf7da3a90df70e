//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// serveFile answers every request with the same bytes of a file. One thread, no parser, and the
// bytes are passed on without a copy.
func serveFile(port string) error {
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	body := bytes.Repeat([]byte("locbench"), 8<<10)
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err := os.WriteFile("/answer", answer, 0o600); err != nil {
		return err
	}
	f, err := os.Open("/answer")
	if err != nil {
		return err
	}
	defer f.Close()
	s := server{file: int(f.Fd()), length: len(answer), conns: map[int]*conn{}, buffer: make([]byte, 16<<10)}
	return s.run(number)
}

type server struct {
	epoll, listener, file, length int
	conns                         map[int]*conn
	buffer                        []byte
}

// conn is a connection that has had so much of its answer; with nothing due it is done.
type conn struct {
	offset int64
	due    bool
}

func (s *server) run(port int) (err error) {
	if s.listener, err = syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0); err != nil {
		return err
	}
	_ = syscall.SetsockoptInt(s.listener, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	_ = syscall.SetsockoptInt(s.listener, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 0)
	if err := syscall.Bind(s.listener, &syscall.SockaddrInet6{Port: port}); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if err := syscall.Listen(s.listener, 1024); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if s.epoll, err = syscall.EpollCreate1(0); err != nil {
		return err
	}
	if err := s.watch(s.listener, syscall.EPOLLIN); err != nil {
		return err
	}
	events := make([]syscall.EpollEvent, 256)
	for {
		n, err := syscall.EpollWait(s.epoll, events, -1)
		if err != nil && err != syscall.EINTR {
			return fmt.Errorf("wait: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			if int(e.Fd) == s.listener {
				s.accept()
			} else if !s.talk(int(e.Fd)) {
				delete(s.conns, int(e.Fd))
				_ = syscall.Close(int(e.Fd))
			}
		}
	}
}

func (s *server) watch(fd int, events uint32) error {
	return syscall.EpollCtl(s.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: events, Fd: int32(fd)})
}

func (s *server) accept() {
	for {
		fd, _, err := syscall.Accept4(s.listener, syscall.SOCK_NONBLOCK)
		if err != nil {
			return
		}
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF, 512<<10)
		s.conns[fd] = &conn{}
		// Edge-triggered, both ways: one call for all of a connection's life.
		if s.watch(fd, syscall.EPOLLIN|syscall.EPOLLOUT|syscall.EPOLLRDHUP|1<<31) != nil {
			delete(s.conns, fd)
			_ = syscall.Close(fd)
		}
	}
}

// talk reads requests and answers them until there is nothing to read or no room to write; false:
// the other side has left.
func (s *server) talk(fd int) bool {
	c := s.conns[fd]
	if c == nil {
		return true
	}
	for {
		if !c.due {
			n, err := syscall.Read(fd, s.buffer)
			if err == syscall.EAGAIN {
				return true
			}
			if n <= 0 || err != nil {
				return false
			}
			// A client that waits for its answer sends one request at a time, and a small one in
			// one piece.
			c.due, c.offset = bytes.Contains(s.buffer[:n], []byte("\r\n\r\n")), 0
			continue
		}
		_, err := syscall.Sendfile(fd, s.file, &c.offset, s.length-int(c.offset))
		if err != nil && err != syscall.EAGAIN {
			return false
		}
		if int(c.offset) == s.length {
			c.due = false
			continue
		}
		if err == syscall.EAGAIN {
			return true
		}
	}
}
