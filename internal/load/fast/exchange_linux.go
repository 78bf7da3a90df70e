package fast

import (
	"math"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locbench/internal/load/record"
	"locbench/internal/load/stamp"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// ask sends the next request on c, or lets it be idle when the sending has ended.
func (s *shard) ask(c *conn, i int, now int64) {
	if s.ended || s.loop.Recorder.SendingEnded(now) || s.loop.bounded && !s.loop.Recorder.MaySend() {
		s.retire(c)
		return
	}
	s.counters.Sent++
	s.launch(c, i, now)
}

// launch sends the next request on c, which it opens where it is not.
func (s *shard) launch(c *conn, i int, now int64) {
	c.req, s.out, c.drawn = s.mix.Take(s.out[:0])
	c.start, c.until, c.dialled = now, now+int64(s.loop.Timeout), c.fd < 0
	if c.until < s.next {
		s.next = c.until
	}
	c.parser.reset(c.req.IsHead, c.req.Status, s.known)
	if c.drawn.Check {
		c.parser.keepBody()
	}
	if c.fd < 0 {
		c.rest = append(c.rest[:0], s.out...)
		s.dial(c, i)
		return
	}
	s.send(c, i, s.out)
}

// send writes b, as much of it as the socket takes; the rest when it takes more.
func (s *shard) send(c *conn, i int, b []byte) {
	if s.ring != nil {
		s.sendRing(c, i, b)
		return
	}
	n, errno := write(c.fd, b)
	switch {
	case errno == 0 && n == len(b):
		c.doing = waiting
	case errno == 0 || errno == syscall.EAGAIN || errno == syscall.EINTR:
		if c.doing != sending {
			c.doing = sending
			s.interest(c, i, c.wants())
		}
		c.rest = append(c.rest[:0], b[max(n, 0):]...)
	default:
		s.fail(c, i, s.now(), os.NewSyscallError("write", errno))
	}
}

// handle takes in what has happened on c.
func (s *shard) handle(c *conn, i int, events uint32) {
	switch c.doing {
	case connecting:
		s.connected(c, i)
	case sending:
		if events&unix.EPOLLOUT != 0 {
			c.doing = waiting
			rest := c.rest
			n, errno := write(c.fd, rest)
			switch {
			case errno == 0 && n == len(rest):
				s.interest(c, i, c.wants())
			case errno == 0 || errno == syscall.EAGAIN || errno == syscall.EINTR:
				c.doing = sending
				c.rest = rest[:copy(rest, rest[max(n, 0):])]
			default:
				s.fail(c, i, s.now(), os.NewSyscallError("write", errno))
				return
			}
		}
		if events&^unix.EPOLLOUT != 0 {
			s.read(c, i, events)
		}
	case waiting:
		s.read(c, i, events)
	case idle:
		// The contender closes what is not used any more, or sends what nobody has asked for.
		s.hangUp(c)
	}
}

// read takes in what there is of the answer, and asks again when it is complete. epoll tells each
// arrival once: what is not read then has to be asked for again.
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
			s.interest(c, i, c.wants())
			return
		case errno != 0:
			err = os.NewSyscallError("read", errno)
		case n == 0:
			done, err = c.parser.eof()
		default:
			used, done, err = c.parser.feed(s.in[:n])
		}
		switch {
		case done || err != nil:
		case n < len(s.in) && events&hangUps == 0:
			return // that was all
		case reads == maxReads:
			// The others want to be served, too.
			s.interest(c, i, c.wants())
			return
		}
	}
	s.complete(c, i, used < n || c.doing == sending, at, err)
}

// complete records an exchange that has ended, with the moment at which the kernel took in its
// answer, where that is known, and goes on. spoilt tells that there were bytes which nobody asked
// for, or that a part of the request was not sent: they make the next answer unreadable.
func (s *shard) complete(c *conn, i int, spoilt bool, at int64, err error) {
	now := s.now()
	if err != nil {
		s.fail(c, i, now, err)
		return
	}
	if c.parser.close || spoilt {
		s.hangUp(c)
	}
	x := record.Exchange{Request: c.req.Index, Start: c.start, End: now, Read: now, Lag: time.Duration(c.lag), Bytes: c.parser.bytes}
	if at != 0 {
		late := stamp.Woken(time.Now(), at, time.Duration(now-c.start))
		x.End -= int64(late)
		s.counters.Stamped++
		s.counters.Woken += late
	}
	switch p := &c.parser; {
	case p.status == c.req.Status && p.keep && p.bytes <= workload.MaxChecked:
		s.check(c, &x)
	case p.status != c.req.Status:
		x.Kind = wire.Class(p.status)
		if s.counters.Lacks(x.Request, x.Kind) {
			x.Example = p.example()
		}
		s.known |= classBit(p.status)
	}
	s.record(c, x)
	if x.Checked {
		now = s.now()
	}
	s.goOn(c, i, now)
}

// record counts the exchange on c that has ended.
func (s *shard) record(c *conn, x record.Exchange) {
	rec := s.loop.Recorder
	s.counters.Record(&rec.Interval, x)
	if s.open != nil {
		if rec.AwaitsAnswers() {
			rec.Answered(x.End, 0, 0)
		}
	} else if !c.answered {
		c.answered = true
		rec.Answered(x.End, time.Duration(x.End-x.Start), s.loop.Timeout)
	}
}

// check compares the body of an answer.
func (s *shard) check(c *conn, x *record.Exchange) {
	p := &c.parser
	x.Checked, x.Kind, x.Example = s.mix.Verdict(c.req, c.drawn, p.body)
	if cap(p.body) > 64<<10 {
		p.body = nil // not to keep as much for each connection
	}
}

// goOn lets c do what comes after an exchange.
func (s *shard) goOn(c *conn, i int, now int64) {
	if s.open != nil {
		s.open.release(c, i, now)
		return
	}
	s.ask(c, i, now)
}

// fail ends the exchange on c.
func (s *shard) fail(c *conn, i int, now int64, err error) {
	dial := c.doing == connecting
	s.hangUp(c)
	x := record.Exchange{Request: c.req.Index, Start: c.start, End: now, Read: now, Kind: wire.Classify(err)}
	if s.counters.Lacks(x.Request, x.Kind) {
		x.Example = wire.Example(err.Error())
	}
	s.record(c, x)
	if !dial || s.open != nil {
		c.failures = 0
		s.goOn(c, i, now)
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

// example is the text that stands for an unwanted answer.
func (p *parser) example() string {
	if p.note == nil {
		return http.StatusText(p.status)
	}
	return wire.Example(strings.TrimSpace(string(p.note.text)))
}
