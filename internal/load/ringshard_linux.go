package load

import (
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// What a submission was for. A completion brings it back, with the connection's number and turn.
const (
	forAnswers = iota
	forRequest
	forOpening
	forBell
)

const (
	longRequest = 16 << 10 // bytes: from here on the kernel may not take all of it at once
	turnBits    = 24
)

// mark is the user data of a submission.
func mark(what int, i int, turn uint32) uint64 {
	return uint64(what)<<56 | uint64(turn&(1<<turnBits-1))<<32 | uint64(uint32(i))
}

// useRing begins to use the ring on the shard's thread. The connections leave epoll, which would be told of every arrival, too. Where it does not work after
// all the shard goes on with epoll.
func (s *shard) useRing() {
	if s.ring.enable() != nil {
		s.ring.close()
		s.ring = nil
		return
	}
	s.running = true
	for i := range s.conns {
		if c := &s.conns[i]; c.fd >= 0 {
			// It fails only for a descriptor that is not there.
			_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, int(c.fd), nil)
			s.receiveRing(c, i)
		}
	}
	s.pollBell()
}

// receiveRing has the kernel receive whatever comes on c, again and again, into buffers of its choice.
func (s *shard) receiveRing(c *conn, i int) {
	_ = unix.SetNonblock(int(c.fd), false) // or the kernel would give up where it ought to wait
	q := s.ring.next()
	q.op, q.fd, q.flags, q.priority, q.user = opRecv, c.fd, sqeBufferSelect, recvMultishot, mark(forAnswers, i, c.turn)
}

// sendRing has the kernel send b on c.
func (s *shard) sendRing(c *conn, i int, b []byte) {
	c.out = append(c.out[:0], b...)
	c.doing = waiting
	q := s.ring.next()
	q.op, q.fd, q.opFlags, q.user = opSend, c.fd, unix.MSG_NOSIGNAL|unix.MSG_WAITALL, mark(forRequest, i, c.turn)
	q.addr, q.length = address(c.out), uint32(len(c.out))
	if len(b) < longRequest {
		q.flags = sqeSkipSuccess
	} else {
		c.unsent = true
	}
}

// pollRing waits until c, which is being connected, is open or is not to be opened.
func (s *shard) pollRing(c *conn, i int) {
	q := s.ring.next()
	q.op, q.fd, q.opFlags, q.user = opPollAdd, c.fd, pollOut, mark(forOpening, i, c.turn)
}

func (s *shard) pollBell() {
	q := s.ring.next()
	q.op, q.fd, q.opFlags, q.user = opPollAdd, int32(s.bell), pollIn, mark(forBell, 0, 0)
}

const (
	pollIn  = 1
	pollOut = 4
)

// awaitRing is await with a ring: it also sends what is to be sent.
func (s *shard) awaitRing() {
	s.books.mu.Unlock()
	s.slept = false
	// What has been sent is often answered at once.
	s.ring.poll()
	if s.ring.completed() == 0 {
		left, began := int64(-1), s.now()
		if s.next != math.MaxInt64 {
			left = max(s.next-began, 0)
		}
		s.ring.wait(left)
		if !s.ended {
			s.idle += s.now() - began
		}
	}
	s.books.mu.Lock()
	s.events = s.events[:0]
}

// serveRing handles the completions that there are, and time-outs behind them are handled as without a ring.
func (s *shard) serveRing() {
	for n := s.ring.completed(); n > 0; n-- {
		done := s.ring.take()
		i, turn := int(uint32(done.user)), uint32(done.user>>32)&(1<<turnBits-1)
		what := int(done.user >> 56)
		if what == forBell {
			s.hear()
			s.pollBell()
			continue
		}
		c := &s.conns[i]
		current := c.fd >= 0 && turn == c.turn&(1<<turnBits-1)
		switch {
		case what == forAnswers:
			s.received(c, i, done, current)
		case !current:
		case what == forOpening:
			s.connected(c, i)
		case done.res < 0:
			s.fail(c, i, s.now(), os.NewSyscallError("write", syscall.Errno(-done.res)))
		case int(done.res) < len(c.out):
			s.fail(c, i, s.now(), os.NewSyscallError("write", syscall.EPIPE))
		default:
			c.unsent = false
		}
	}
}

// received takes in what has come on c, as read does.
func (s *shard) received(c *conn, i int, done completion, current bool) {
	var b []byte
	if done.flags&cqeHasBuffer != 0 {
		id := uint16(done.flags >> cqeBufferShift)
		b = s.ring.buffer(id, max(done.res, 0))
		defer s.ring.giveBack(id)
	}
	if !current {
		return
	}
	if done.flags&cqeMore == 0 && (done.res > 0 || done.res == -int32(unix.ENOBUFS)) {
		s.receiveRing(c, i) // it goes on by itself but after that
	}
	switch {
	case done.res == -int32(unix.ENOBUFS):
	case c.doing != waiting:
		// The contender closes what is not used any more, or sends what nobody has asked for.
		s.hangUp(c)
	case done.res < 0:
		s.complete(c, i, false, 0, os.NewSyscallError("read", syscall.Errno(-done.res)))
	case done.res == 0:
		if done, err := c.parser.eof(); done || err != nil {
			s.complete(c, i, false, 0, err)
		}
	default:
		used, done, err := c.parser.feed(b)
		if done || err != nil {
			s.complete(c, i, used < len(b) || c.unsent, 0, err)
		}
	}
}
