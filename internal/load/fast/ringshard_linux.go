package fast

import (
	"bytes"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The purpose of a submission. Its completion has the same user data: purpose, index of the
// connection and generation of its socket.
const (
	forResponses = iota
	forRequest
	forOpening
	forWake
)

const (
	sendTogether   = 16       // requests that are submitted at once
	requestBuffer  = 512      // bytes reserved per request
	longRequest    = 16 << 10 // bytes: the kernel may not take a longer request at once
	generationBits = 24
	shortWait      = 20 * time.Microsecond // sending may take as long
)

// mark returns the user data of a submission.
func mark(what int, i int, generation uint32) uint64 {
	return uint64(what)<<56 | uint64(generation&(1<<generationBits-1))<<32 | uint64(uint32(i))
}

// useRing starts using the ring on the shard's thread. The connections leave epoll, which would
// also be woken for every arrival. If the ring does not work, the shard continues with epoll.
func (s *shard) useRing() {
	if s.ring.enable() != nil {
		s.ring.close()
		s.ring = nil
		return
	}
	s.running, s.batch = true, make([]int32, 0, sendTogether)
	requests := make([]byte, requestBuffer*len(s.conns)) // longer ones get room when they come
	for i := range s.conns {
		s.conns[i].out = requests[i*requestBuffer : i*requestBuffer : (i+1)*requestBuffer]
		if c := &s.conns[i]; c.fd >= 0 {
			// It fails only for a descriptor that is not registered.
			_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, int(c.fd), nil)
			s.receiveRing(c, i)
		}
	}
	s.pollWake()
}

// receiveRing makes the kernel receive whatever comes on c, repeatedly, into buffers of its choice.
func (s *shard) receiveRing(c *conn, i int) {
	_ = unix.SetNonblock(int(c.fd), false) // otherwise the kernel would give up instead of waiting
	q := s.ring.next()
	q.op, q.fd, q.flags, q.priority = opRecvMsg, c.fd, sqeBufferSelect, recvMultishot
	q.user, q.length = mark(forResponses, i, c.generation), 1
	q.addr = uint64(uintptr(unsafe.Pointer(&s.ring.receiveHeader)))
	c.queued = s.ring.tail
}

// sendRing makes the kernel send the request of c.
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

// startBatch sets the start time of queued requests to now, just before the kernel gets them. Their
// wait for the rest of the batch is the client's time, not the contender's.
func (s *shard) startBatch() {
	if len(s.batch) == 0 {
		return
	}
	now := s.now()
	for _, i := range s.batch {
		if c := &s.conns[i]; c.state == waiting && !c.dialedNow {
			if s.open != nil {
				c.lag += now - c.start
			}
			c.start, c.until = now, now+int64(s.requestTimeout(c))
		}
	}
	s.batch = s.batch[:0]
}

// detachRing ends what the kernel is doing on c, whose socket is closed next.
func (s *shard) detachRing(c *conn) {
	s.startBatch()
	for tries := 0; s.ring.pending(c.queued) && tries < 3; tries++ {
		s.ring.submit(0)
	}
	s.ring.disown(c.fd) // the next file or socket may get the same descriptor
	// What waits in the kernel would hold the socket open. It ends now, and its generation
	// identifies it.
	_ = unix.Shutdown(int(c.fd), unix.SHUT_RDWR)
	c.generation++
	if c.unsent { // the kernel may still read the bytes
		c.out, c.unsent = bytes.Clone(c.out), false
	}
}

// withdraw takes back the request of c, whose connection was open before, if the kernel does not
// have it yet. It reports whether it did.
func (s *shard) withdraw(c *conn) bool {
	if c.state != waiting || c.dialedNow || !s.ring.pending(c.queued) {
		return false
	}
	q := &s.ring.sqes[(c.queued-1)&s.ring.sqMask]
	*q = submission{op: opNothing, flags: q.flags, user: q.user}
	c.sent = 0
	return true
}

// pollRing makes the kernel report when c, which is being connected, is open or has failed.
func (s *shard) pollRing(c *conn, i int) {
	q := s.ring.next()
	q.op, q.fd, q.opFlags, q.user = opPollAdd, c.fd, pollOut|pollEnd, mark(forOpening, i, c.generation)
	c.queued = s.ring.tail
}

func (s *shard) pollWake() {
	q := s.ring.next()
	q.op, q.fd, q.opFlags, q.user = opPollAdd, int32(s.waker.fd), pollIn, mark(forWake, 0, 0)
}

const (
	pollIn  = 1
	pollOut = 4
	pollEnd = unix.POLLRDHUP
)

// awaitRing is await with a ring: it also sends what is to be sent. With some connections open, it
// waits for as many completions.
func (s *shard) awaitRing(until int64, completions uint32) {
	s.startBatch()
	s.counters.Unlock()
	// What was just sent is often answered at once. Where it was not the last time, one call sends
	// and waits.
	if !s.waited {
		s.ring.poll()
	}
	s.napped = completions > 1
	if s.ring.completed() < completions {
		began := s.now()
		if until = min(until, s.next); len(s.refused) > 0 {
			until = 0
		}
		s.ring.wait(&s.wait, left(until, began), completions)
		now := s.now()
		s.waited = s.napped || now-began >= int64(shortWait)
		s.idle += int64(s.rec.Overlap(began, now))
	}
	s.counters.Lock()
	s.events = s.events[:0]
}

// serveRing handles the available completions. serve handles timeouts afterwards.
func (s *shard) serveRing() {
	for n := s.ring.completed(); n > 0; n-- {
		done := s.ring.take()
		i, generation := int(uint32(done.user)), uint32(done.user>>32)&(1<<generationBits-1)
		what := int(done.user >> 56)
		if what == forWake {
			s.waker.drain()
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
			// The contender has closed the connection, perhaps after a response.
			c.sent, c.unsent = int(max(done.res, 0)), true
		default:
			c.unsent = false
		}
	}
}

// received handles what has come on c, as read does.
func (s *shard) received(c *conn, i int, done completion, current bool) {
	b, at, buffer, buffered, errno := s.ring.received(done)
	if buffered {
		defer s.ring.giveBack(buffer)
	}
	if !current {
		return
	}
	if errno != unix.ENOBUFS && s.withdraw(c) {
		s.retry(c, i, true) // not a response: it came, or the connection ended, before the request
		return
	}
	if done.flags&cqeMore == 0 && (len(b) > 0 || errno == unix.ENOBUFS) {
		s.receiveRing(c, i) // the multishot receive has ended
	}
	switch {
	case errno == unix.ENOBUFS:
	case c.state != waiting:
		// The contender closed an unused connection, or sent something without a request.
		s.hangUp(c)
	case errno != 0:
		s.complete(c, i, false, 0, os.NewSyscallError("read", errno))
	case len(b) == 0:
		if done, err := c.parser.EOF(); done || err != nil {
			s.complete(c, i, false, 0, err)
		}
	default:
		used, done, err := c.parser.Feed(b)
		if !done && err == nil {
			s.attend() // more comes
		} else {
			s.complete(c, i, used < len(b) || c.unsent, at, err)
		}
	}
}
