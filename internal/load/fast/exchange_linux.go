package fast

import (
	"cmp"
	"math"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/http1"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
)

// sendNext sends the next request on c, or retires c when sending has ended and no session is open.
func (s *shard) sendNext(c *conn, i int, now int64) {
	over := s.ended || s.rec.SendingEnded(now)
	midway := c.user.Midway(over)
	if !midway && (over || s.bounded && !s.rec.MaySend() || !s.rec.MayIterate(&c.iterating, now)) {
		s.retire(c)
		return
	}
	if err := s.mix.Begin(&c.user); err != nil {
		s.rec.Fail(err)
		s.retire(c)
		return
	}
	if s.think(c, now) {
		return
	}
	s.counters.Sent++
	s.launch(c, i, now)
}

// think lets the user of c, who has begun an iteration, think before the next request, and reports
// whether it does.
func (s *shard) think(c *conn, now int64) bool {
	think := c.user.Think()
	if think <= 0 || s.ended {
		return false
	}
	c.thinking = true
	s.rest(c, now, now+int64(think))
	return true
}

// resume lets c continue after a rest.
func (s *shard) resume(c *conn, i int, now int64) {
	wasThinking := c.thinking
	c.thinking = false
	switch {
	case wasThinking && s.open != nil:
		s.open.thinkEnded(c, i, now)
	case !wasThinking:
		s.sendNext(c, i, now)
	case s.ended && !c.user.Midway(true):
		c.user.Forget()
		s.retire(c)
	default:
		s.counters.Sent++
		s.launch(c, i, now)
	}
}

// launch sends the next request of the user of c, and opens c first if necessary.
func (s *shard) launch(c *conn, i int, now int64) {
	c.req, c.out = s.mix.Write(&c.user, c.out[:0])
	c.start, c.until, c.dialedNow = now, now+int64(s.requestTimeout(c)), c.fd < 0
	if c.until < s.next {
		s.next = c.until
	}
	s.expect(c)
	if c.fd < 0 {
		s.dial(c, i)
		return
	}
	s.send(c, i)
}

// expect prepares c for the response to a request of which nothing has been sent.
func (s *shard) expect(c *conn) {
	c.sent = 0
	c.parser.Reset(c.req, s.known)
	if c.user.Keeps() {
		c.parser.KeepAll()
	}
	if c.user.KeepsLinks() {
		c.parser.KeepLinks()
	}
}

// requestTimeout returns the timeout of the request of c.
func (s *shard) requestTimeout(c *conn) time.Duration { return cmp.Or(c.req.Timeout, s.timeout) }

// send writes as much of the request as the socket takes, and the rest when it takes more.
func (s *shard) send(c *conn, i int) {
	if s.ring != nil {
		s.sendRing(c, i)
		return
	}
	n, errno := write(c.fd, c.out[c.sent:])
	before := c.state
	switch errno {
	case 0, syscall.EAGAIN, syscall.EINTR:
		c.sent += max(n, 0)
		if c.state = sending; c.sent == len(c.out) {
			c.state = waiting
		} else {
			s.attend()
		}
		if (c.state == sending) != (before == sending) {
			s.interest(c, i, c.epollEvents())
		}
	case syscall.EPIPE, syscall.ECONNRESET:
		// The contender has closed the connection, perhaps after a response.
		c.state = sending
		s.read(c, i, hangUps)
	default:
		s.fail(c, i, s.now(), os.NewSyscallError("write", errno))
	}
}

// retry sends the request of c once more over a new connection, and reports whether it does. It is
// for connections that were open before the request and ended, or were given up, without a
// response: the contender may have closed them while the request was on its way. notTaken says that
// the contender certainly did not get the request. See wire.Repeatable for the others.
func (s *shard) retry(c *conn, i int, notTaken bool) bool {
	if c.dialedNow || !notTaken && !c.req.Repeatable {
		return false
	}
	c.dialedNow = true
	if c.sent > 0 {
		s.counters.SentAgain++
	}
	s.hangUp(c)
	s.expect(c)
	s.dial(c, i)
	return true
}

// handle handles the events of c.
func (s *shard) handle(c *conn, i int, events uint32) {
	switch c.state {
	case connecting:
		s.connected(c, i, events&hangUps != 0)
	case sending:
		fd := c.fd
		if events&unix.EPOLLOUT != 0 {
			s.send(c, i)
		}
		if events&^unix.EPOLLOUT != 0 && c.fd == fd && (c.state == sending || c.state == waiting) {
			s.read(c, i, events)
		}
	case waiting:
		s.read(c, i, events)
	case idle, resting:
		// The contender closed an unused connection, or sent something without a request.
		s.hangUp(c)
	}
}

// read reads what has arrived, and sends the next request when the response is complete. epoll
// reports each arrival once: what read leaves has to be requested from epoll again.
func (s *shard) read(c *conn, i int, events uint32) {
	var n, used int
	var at int64
	var done bool
	var err error
	for reads := 1; !done && err == nil; reads++ {
		var errno syscall.Errno
		if s.slept {
			n, at, errno = s.stamps.Read(c.fd, s.in)
		} else {
			n, errno = read(c.fd, s.in)
		}
		switch {
		case errno == syscall.EAGAIN:
			return
		case errno == syscall.EINTR:
			s.interest(c, i, c.epollEvents())
			return
		case errno != 0:
			err = os.NewSyscallError("read", errno)
		case n == 0:
			done, err = c.parser.EOF()
		default:
			used, done, err = c.parser.Feed(s.in[:n])
		}
		switch {
		case done || err != nil:
		case n < len(s.in) && events&hangUps == 0:
			s.attend() // nothing is left, but more comes
			return
		case reads == maxReads:
			// Serve the other connections, too.
			s.interest(c, i, c.epollEvents())
			return
		}
	}
	s.complete(c, i, used < n || c.state == sending || events&hangUps != 0, at, err)
}

// attend makes an open loop read responses as soon as they come, for a while.
func (s *shard) attend() { s.attentive = max(s.attentive, s.now()+int64(50*time.Millisecond)) }

// complete records an exchange that has ended, and lets c continue. at is the kernel's timestamp of
// the last bytes, 0 if unknown. unusable says that the next response could not be read: surplus
// bytes came, part of the request was not sent, or the contender closed c.
func (s *shard) complete(c *conn, i int, unusable bool, at int64, err error) {
	now := s.now()
	if err != nil {
		s.fail(c, i, now, err)
		return
	}
	p := &c.parser
	if p.GaveUp() && s.retry(c, i, true) {
		return // the contender gave up waiting while this request was on its way
	}
	if p.Close || unusable {
		s.hangUp(c)
	}
	x := record.Exchange{
		Request: c.req.Index, Start: c.start, End: now, Read: now, Lag: time.Duration(c.lag), Bytes: p.Bytes,
		Status: p.Status,
	}
	if at != 0 {
		late := wakeupDelay(time.Now(), at, time.Duration(now-c.start))
		if x.End -= int64(late); s.napped {
			x.Read = x.End
			s.counters.NotInFlight(&s.rec.Interval, x.End)
		} else {
			s.counters.Stamped++
			s.counters.ClientWake += late
		}
	} else if s.slept { // no stamps
		s.attend()
	}
	switch {
	case c.req.Follows(p.Status):
		x.Kind, x.Example = s.mix.Follow(&c.user, c.req, p.Response())
	case !c.req.Expects(p.Status):
		x.Kind = wire.Class(p.Status)
		if s.counters.NeedsExample(x.Request, x.Kind) {
			x.Example = p.Example()
		}
		s.known |= http1.ClassBit(p.Status)
	case c.req.Rejects(p.Status):
		x.Rejected = true
		x.Kind, x.Example = s.mix.Repeat(&c.user, c.req, p.Response())
	case p.Kept():
		s.checkResponse(c, &x)
	}
	s.record(c, x)
	if p.Kept() {
		now = s.now()
	}
	s.proceed(c, i, now)
}

// record counts the exchange on c that has ended.
func (s *shard) record(c *conn, x record.Exchange) {
	if x.Example != "" && s.counters.NeedsExample(x.Request, x.Kind) {
		x.Example = s.mix.Masked(&c.user, x.Example)
	}
	c.user.End(&x)
	s.rec.Iterate(s.counters, &c.iterating, &x)
	s.counters.Record(&s.rec.Interval, x)
	if s.open != nil {
		if s.rec.AwaitsResponses() {
			s.rec.Answered(x.End, 0, 0)
		}
	} else if !c.answered {
		c.answered = true
		s.rec.Answered(x.End, time.Duration(x.End-x.Start), s.timeout)
	}
}

// checkResponse checks a response that was kept.
func (s *shard) checkResponse(c *conn, x *record.Exchange) {
	p := &c.parser
	x.Checked, x.Kind, x.Example = s.mix.CheckResponse(&c.user, c.req, p.Response())
	x.Unread = c.user.Unread
	if cap(p.Body) > 64<<10 {
		p.Body = nil // do not hold that much per connection
	}
}

// proceed lets c do what follows an exchange.
func (s *shard) proceed(c *conn, i int, now int64) {
	if s.open != nil {
		s.open.release(c, i, now)
		return
	}
	s.sendNext(c, i, now)
}

// fail ends the exchange on c with an error, or retries it.
func (s *shard) fail(c *conn, i int, now int64, err error) {
	if c.parser.NothingReceived() && wire.Classify(err) == bench.ErrReset && s.retry(c, i, c.sent == 0) {
		return
	}
	dial := c.state == connecting
	s.hangUp(c)
	x := record.Exchange{
		Request: c.req.Index, Start: c.start, End: now, Read: now, Lag: time.Duration(c.lag), Kind: wire.Classify(err),
	}
	if s.counters.NeedsExample(x.Request, x.Kind) {
		x.Example = wire.Example(err.Error())
	}
	s.record(c, x)
	if !dial || s.open != nil {
		c.failures = 0
		s.proceed(c, i, now)
		return
	}
	if c.failures < math.MaxUint16 {
		c.failures++
	}
	if s.ended {
		s.retire(c)
		return
	}
	s.rest(c, now, now+int64(wire.BackOff(int(c.failures))))
}
