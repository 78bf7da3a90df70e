package fast

import (
	"bytes"
	"math"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a submission was for. A completion brings it back, with the connection's number and turn.
const (
	forResponses = iota
	forRequest
	forOpening
	forWake
)

const (
	sendTogether   = 16       // requests that are submitted at once
	requestBuffer  = 512      // bytes
	longRequest    = 16 << 10 // bytes: from here on the kernel may not take all of it at once
	generationBits = 24
)

// mark returns the user data of a submission.
func mark(what int, i int, generation uint32) uint64 {
	return uint64(what)<<56 | uint64(generation&(1<<generationBits-1))<<32 | uint64(uint32(i))
}

// useRing begins to use the ring on the shard's thread. The connections leave epoll, which would be
// woken for every arrival, too. Where it does not work after all the shard continues with epoll.
func (s *shard) useRing() {
	if s.ring.enable() != nil {
		s.ring.close()
		s.ring = nil
		return
	}
	s.running, s.batch = true, make([]int32, 0, sendTogether)
	requests := make([]byte, requestBuffer*len(s.conns)) // for longer ones room is made when they come
	for i := range s.conns {
		s.conns[i].out = requests[i*requestBuffer : i*requestBuffer : (i+1)*requestBuffer]
		if c := &s.conns[i]; c.fd >= 0 {
			// It fails only for a descriptor that is not there.
			_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, int(c.fd), nil)
			s.receiveRing(c, i)
		}
	}
	s.pollWake()
}

// receiveRing has the kernel receive whatever comes on c, again and again, into buffers of its
// choice.
func (s *shard) receiveRing(c *conn, i int) {
	_ = unix.SetNonblock(int(c.fd), false) // or the kernel would give up where it ought to wait
	q := s.ring.next()
	q.op, q.fd, q.flags, q.priority, q.user = opRecvMsg, c.fd, sqeBufferSelect, recvMultishot, mark(forResponses, i, c.generation)
	q.addr, q.length = uint64(uintptr(unsafe.Pointer(&s.ring.receiveHeader))), 1
	c.queued = s.ring.tail
}

// sendRing has the kernel send the request of c.
func (s *shard) sendRing(c *conn, i int) {
	c.state, c.sent = waiting, len(c.out)
	q := s.ring.next()
	q.op, q.fd, q.opFlags, q.user = opSend, c.fd, unix.MSG_NOSIGNAL|unix.MSG_WAITALL, mark(forRequest, i, c.generation)
	q.addr, q.length = address(c.out), uint32(len(c.out))
	c.queued = s.ring.tail
	if len(c.out) < longRequest {
		q.flags = sqeSkipSuccess
	} else {
		c.unsent = true
	}
	if s.batch = append(s.batch, int32(i)); len(s.batch) == cap(s.batch) {
		s.startBatch()
		s.ring.submit(0)
	}
}

// startBatch lets the requests that are queued begin now, as the kernel gets them next: what
// they have waited for the others of their batch is the client's time, not the contender's.
func (s *shard) startBatch() {
	if len(s.batch) == 0 {
		return
	}
	now := s.now()
	for _, i := range s.batch {
		if c := &s.conns[i]; c.state == waiting && !c.dialledNow {
			c.start, c.until = now, now+int64(s.requestTimeout(c))
		}
	}
	s.batch = s.batch[:0]
}

// detachRing ends what the kernel is to do on c, whose socket is closed next.
func (s *shard) detachRing(c *conn) {
	s.startBatch()
	for tries := 0; s.ring.pending(c.queued) && tries < 3; tries++ {
		s.ring.submit(0) // while the number still is that of this socket: the next one may get it
	}
	// What waits for it in the kernel would hold it open. It ends now, and is known by its turn.
	_ = unix.Shutdown(int(c.fd), unix.SHUT_RDWR)
	c.generation++
	if c.unsent { // the kernel may still read it
		c.out, c.unsent = bytes.Clone(c.out), false
	}
}

// withdraw takes the request of c, whose connection was open before it, back if the kernel has not
// been given it yet.
func (s *shard) withdraw(c *conn) bool {
	if c.state != waiting || c.dialledNow || !s.ring.pending(c.queued) {
		return false
	}
	q := &s.ring.sqes[(c.queued-1)&s.ring.sqMask]
	*q = submission{op: opNothing, flags: q.flags, user: q.user}
	c.sent = 0
	return true
}

// pollRing waits until c, which is being connected, is open or is not to be opened.
func (s *shard) pollRing(c *conn, i int) {
	q := s.ring.next()
	q.op, q.fd, q.opFlags, q.user = opPollAdd, c.fd, pollOut|pollEnd, mark(forOpening, i, c.generation)
	c.queued = s.ring.tail
}

func (s *shard) pollWake() {
	q := s.ring.next()
	q.op, q.fd, q.opFlags, q.user = opPollAdd, int32(s.wakeFD), pollIn, mark(forWake, 0, 0)
}

const (
	pollIn  = 1
	pollOut = 4
	pollEnd = unix.POLLRDHUP
)

// awaitRing is await with a ring: it also sends what is to be sent.
func (s *shard) awaitRing() {
	s.startBatch()
	s.counters.Unlock()
	// What has been sent is often answered at once.
	s.ring.poll()
	if s.ring.completed() == 0 {
		left, began := int64(-1), s.now()
		switch {
		case len(s.refused) > 0:
			left = 0
		case s.next != math.MaxInt64:
			left = max(s.next-began, 0)
		}
		s.ring.wait(left)
		s.idle += int64(s.rec.Overlap(began, s.now()))
	}
	s.counters.Lock()
	s.events = s.events[:0]
}

// serveRing handles the completions that there are, and timeouts after them are handled as
// without a ring.
func (s *shard) serveRing() {
	for n := s.ring.completed(); n > 0; n-- {
		done := s.ring.take()
		i, generation := int(uint32(done.user)), uint32(done.user>>32)&(1<<generationBits-1)
		what := int(done.user >> 56)
		if what == forWake {
			s.drainWake()
			s.pollWake()
			continue
		}
		c := &s.conns[i]
		current := c.fd >= 0 && generation == c.generation&(1<<generationBits-1)
		switch {
		case what == forResponses:
			s.received(c, i, done, current)
		case !current:
		case what == forOpening:
			s.connected(c, i, done.res > 0 && done.res&(pollEnd|unix.POLLHUP) != 0)
		case done.res < 0 && done.res != -int32(unix.EPIPE) && done.res != -int32(unix.ECONNRESET):
			s.fail(c, i, s.now(), os.NewSyscallError("write", syscall.Errno(-done.res)))
		case int(done.res) < len(c.out):
			// The contender has closed the connection, maybe with a response before.
			c.sent, c.unsent = int(max(done.res, 0)), true
		default:
			c.unsent = false
		}
	}
}

// received takes in what has come on c, as read does.
func (s *shard) received(c *conn, i int, done completion, current bool) {
	b, at, buffer, buffered, errno := s.ring.received(done)
	if buffered {
		defer s.ring.giveBack(buffer)
	}
	if !current {
		return
	}
	if errno != unix.ENOBUFS && s.withdraw(c) {
		s.retry(c, i, true) // nobody asked for it; and if the connection has ended, it has before the request
		return
	}
	if done.flags&cqeMore == 0 && (len(b) > 0 || errno == unix.ENOBUFS) {
		s.receiveRing(c, i) // it continues by itself but after that
	}
	switch {
	case errno == unix.ENOBUFS:
	case c.state != waiting:
		// The contender closes what is not used any more, or sends what nobody has asked for.
		s.hangUp(c)
	case errno != 0:
		s.complete(c, i, false, 0, os.NewSyscallError("read", errno))
	case len(b) == 0:
		if done, err := c.parser.eof(); done || err != nil {
			s.complete(c, i, false, 0, err)
		}
	default:
		used, done, err := c.parser.feed(b)
		if done || err != nil {
			s.complete(c, i, used < len(b) || c.unsent, at, err)
		}
	}
}
