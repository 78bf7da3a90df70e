package load

import (
	"math"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	readSize  = 64 << 10 // of the one buffer into which a shard reads
	maxEvents = 512      // taken at a time
	bellIndex = -1       // of the eventfd among the connections
	maxReads  = 16       // of one connection before the others are served

	// What epoll is to tell, once for each arrival: that saves it from looking again at every connection that it has told of.
	arrivals = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET
	room     = unix.EPOLLOUT
	hangUps  = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR // the other side sends no more
)

// wants is what epoll is to tell of c now.
func (c *conn) wants() uint32 {
	if c.doing == sending || c.doing == connecting {
		return arrivals | room
	}
	return arrivals
}

// What a connection does.
type doing uint8

const (
	idle       doing = iota // it has no request, and gets none any more
	connecting              // for its request
	sending                 // the rest of its request, which the socket did not take at once
	waiting                 // for the answer
	resting                 // until it tries again to open
)

// conn is one of a shard's connections. Times are ns since the start of the step.
type conn struct {
	parser   parser
	req      *request
	drawn    drawn
	start    int64 // of the request
	until    int64 // its time-out, or the end of the rest
	rest     []byte
	fd       int32 // -1: not open
	doing    doing
	ever     bool   // it has been open
	failures uint16 // dials failed in a row

	lag  int64 // open loop: from due to start
	left int   // and requests that the user has after this one
}

// shard serves its connections from one thread. Nothing in it is shared but the books, whose lock it holds while it handles a batch
// of events, and the bell.
type shard struct {
	loop   *fastLoop
	books  *account
	open   *openShard // nil: closed loop
	mix    *mix
	addrs  []unix.Sockaddr
	conns  []conn
	active int // connections that are not idle
	epoll  int
	bell   int // an eventfd
	in     []byte
	out    []byte
	events []unix.EpollEvent
	next   int64 // when connections have to be looked at for time-outs and ends of rests
	known  uint8 // see parser
	idle   int64 // spent waiting for events while the sending went on
	ended  bool  // the sending has; then at is when
	at     int64
}

// now is the clock of the step.
func (s *shard) now() int64 { return int64(time.Since(s.loop.rec.started)) }

// run sends until the sending ends and returns when nothing is in flight any more.
func (s *shard) run() {
	s.books.mu.Lock()
	s.next = math.MaxInt64
	s.events = s.events[:0]
	s.active = len(s.conns)
	for i := range s.conns {
		s.ask(&s.conns[i], i, s.now())
	}
	for s.active > 0 {
		if s.loop.cutNow.Load() {
			s.cutAll()
			break
		}
		s.await(math.MaxInt64)
		if end := s.loop.rec.end.Load(); end > 0 && !s.ended {
			s.ended, s.at = true, end-1
			s.wakeResting()
		}
		s.serve()
	}
	s.books.mu.Unlock()
}

// await takes the events that there are, or waits for some, but not beyond until nor the next look.
func (s *shard) await(until int64) {
	// With many events at hand there are probably more: then it is worth asking without the way round through the scheduler,
	// which a wait takes.
	busy := len(s.events) >= 8
	s.events = s.events[:cap(s.events)]
	s.books.mu.Unlock()
	n, errno := 0, syscall.Errno(0)
	if busy {
		n, errno = pollNow(s.epoll, s.events)
	}
	if n <= 0 || errno != 0 {
		left, began := int64(-1), s.now()
		if until = min(until, s.next); until != math.MaxInt64 {
			left = max(until-began, 0)
		}
		if n, errno = poll(s.epoll, s.events, left); errno != 0 {
			n = 0 // interrupted
		}
		if !s.ended {
			s.idle += s.now() - began
		}
	}
	s.books.mu.Lock()
	s.events = s.events[:n]
}

// serve handles the events that await has taken, and time-outs.
func (s *shard) serve() {
	for i := range s.events {
		e := &s.events[i]
		if e.Fd == bellIndex {
			s.hear()
			continue
		}
		s.handle(&s.conns[e.Fd], int(e.Fd), e.Events)
	}
	if s.next != math.MaxInt64 {
		if now := s.now(); now >= s.next {
			s.look(now)
		}
	}
}

// ask sends the next request on c, or lets it be idle when the sending has ended.
func (s *shard) ask(c *conn, i int, now int64) {
	if s.ended || s.loop.rec.end.Load() > 0 || s.loop.bounded && !s.loop.rec.maySend() {
		s.retire(c)
		return
	}
	if !s.loop.bounded {
		s.books.sent++
	}
	s.launch(c, i, now)
}

// launch sends the next request on c, which it opens where it is not.
func (s *shard) launch(c *conn, i int, now int64) {
	c.req, s.out, c.drawn = s.mix.take(s.out[:0])
	c.start, c.until = now, now+int64(s.loop.timeout)
	if c.until < s.next {
		s.next = c.until
	}
	c.parser.reset(c.req.isHead, c.req.status, s.known)
	if c.drawn.check {
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

func (s *shard) interest(c *conn, i int, events uint32) {
	// It fails only for a descriptor that is not there.
	_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_MOD, int(c.fd), &unix.EpollEvent{Events: events, Fd: int32(i)})
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

// read takes in what there is of the answer, and asks again when it is complete. epoll tells each arrival once: what is not read then
// has to be asked for again.
func (s *shard) read(c *conn, i int, events uint32) {
	var n, used int
	var done bool
	var err error
	for reads := 1; !done && err == nil; reads++ {
		var errno syscall.Errno
		n, errno = read(c.fd, s.in)
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
	now := s.now()
	if err != nil {
		s.fail(c, i, now, err)
		return
	}
	// Bytes that nobody asked for make the next answer unreadable; so does a request of which a part was not sent.
	if c.parser.close || used < n || c.doing == sending {
		s.hangUp(c)
	}
	took, over := time.Duration(now-c.start), s.over(now)
	switch p := &c.parser; {
	case p.status == c.req.status && p.keep && p.bytes <= maxChecked:
		s.check(c, took, over)
		now = s.now()
	case p.status == c.req.status:
		s.books.success(took, over, time.Duration(c.lag), p.bytes)
	default:
		kind := class(p.status)
		if s.books.failure(kind, took, over) {
			s.books.examples[kind] = p.example()
		}
		s.known |= classBit(p.status)
	}
	s.goOn(c, i, now)
}

// check records an answer whose body is checked.
func (s *shard) check(c *conn, took, over time.Duration) {
	p := &c.parser
	s.books.checked++
	kind, example := s.mix.verdict(c.req, c.drawn, p.body)
	switch {
	case kind == "":
		s.books.success(took, over, time.Duration(c.lag), p.bytes)
	case s.books.failure(kind, took, over):
		s.books.examples[kind] = example
	}
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

// over is how long after the end of the sending now is.
func (s *shard) over(now int64) time.Duration {
	end := s.at
	if !s.ended {
		e := s.loop.rec.end.Load()
		if e == 0 {
			return 0
		}
		end = e - 1
	}
	return time.Duration(max(now-end, 0))
}

// fail ends the exchange on c.
func (s *shard) fail(c *conn, i int, now int64, err error) {
	dial := c.doing == connecting
	s.hangUp(c)
	kind := classify(err)
	if s.books.failure(kind, time.Duration(now-c.start), s.over(now)) {
		s.books.examples[kind] = bound(err.Error())
	}
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
	c.doing = resting
	c.start, c.until = now, now+int64(backOff(int(c.failures)))
	s.next = min(s.next, c.until)
}

// look finds the connections whose time is over.
func (s *shard) look(now int64) {
	s.next = math.MaxInt64
	for i := range s.conns {
		c := &s.conns[i]
		if c.doing == idle {
			continue
		}
		switch {
		case c.until > now:
		case c.doing == resting:
			s.books.paused += time.Duration(now - c.start)
			s.ask(c, i, now)
		default:
			s.fail(c, i, now, os.ErrDeadlineExceeded)
		}
		if c.doing != idle && c.until < s.next {
			s.next = c.until
		}
	}
	// Not more often than a thousand times a second, and time-outs come that much late at most.
	if s.next != math.MaxInt64 {
		s.next = max(s.next, now+int64(time.Millisecond))
	}
}

// wakeResting ends the rests, as nothing is sent after them.
func (s *shard) wakeResting() {
	now := s.now()
	for i := range s.conns {
		if c := &s.conns[i]; c.doing == resting {
			s.books.paused += time.Duration(now - c.start)
			s.retire(c)
		}
	}
}

// retire lets c have no request any more.
func (s *shard) retire(c *conn) {
	c.doing = idle
	s.active--
}

// cutAll ends what is in flight without waiting for it.
func (s *shard) cutAll() {
	for i := range s.conns {
		switch c := &s.conns[i]; c.doing {
		case idle:
		case resting:
			s.retire(c)
		default:
			s.books.cut++
			s.books.drops(int64(c.left), false)
			s.hangUp(c)
			s.retire(c)
		}
	}
}

func (s *shard) hangUp(c *conn) {
	if c.fd >= 0 {
		unix.Close(int(c.fd)) // epoll forgets it
		c.fd = -1
	}
}

func (s *shard) close() {
	for i := range s.conns {
		s.hangUp(&s.conns[i])
	}
	unix.Close(s.epoll)
	unix.Close(s.bell)
}

// signal makes wait return.
func (s *shard) signal() {
	one := [8]byte{0: 1}
	_, _ = unix.Write(s.bell, one[:]) // it fails only when it rings already
}

func (s *shard) hear() {
	var n [8]byte
	_, _ = unix.Read(s.bell, n[:])
}

// example is the text that stands for an unwanted answer.
func (p *parser) example() string {
	if p.note == nil {
		return http.StatusText(p.status)
	}
	return bound(strings.TrimSpace(string(p.note.text)))
}
