package fast

import (
	"math"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/workload"
)

const (
	readSize  = 64 << 10 // of the one buffer into which a shard reads
	maxEvents = 512      // taken at a time
	wakeIndex = -1       // of the eventfd among the connections
	maxReads  = 16       // of one connection before the others are served

	// What epoll is to report, once for each arrival: that saves it from looking again at every
	// connection that it has reported on.
	arrivals = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET
	room     = unix.EPOLLOUT
	hangUps  = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR // the other side sends no more
)

// wants returns what epoll is to report of c now.
func (c *conn) epollEvents() uint32 {
	if c.state == sending || c.state == connecting {
		return arrivals | room
	}
	return arrivals
}

// What a connection does.
type state uint8

const (
	idle       state = iota // it has no request, and gets none any more
	connecting              // for its request
	sending                 // the rest of its request, which the socket did not take at once
	waiting                 // for the response
	resting                 // until it tries again to open
)

// conn is one of a shard's connections. Times are ns since the start of the step.
type conn struct {
	parser   parser
	req      *workload.Request
	user     workload.User
	start    int64  // of the request
	until    int64  // its timeout, or the end of the rest
	out      []byte // the request; with a ring the kernel may still read it
	sent     int    // bytes of it that have gone out, as far as is known
	fd       int32  // -1: not open
	state    state
	opened   bool   // it has been open
	failures uint16 // dials failed in a row

	dialledNow bool   // for this request, whose time includes that
	queued     uint32 // with a ring: where its last submission ends
	generation uint32 // with a ring: number of its socket, to know what comes of an earlier one
	unsent     bool   // with a ring: a part of a long request may not be sent yet

	lag       int64 // open loop: from due to start
	remaining int   // and requests or sessions that the user has after this one
	waited    bool  // it had to wait for a connection, and its user thinks before asking

	answered bool  // it has had its first response
	thinking bool  // it rests before a request of its user
	refused  error // why it could not be opened, which is looked at in the next turn
}

// shard serves its connections from one thread. Nothing in it is shared but the counters, whose
// lock it holds while it handles a batch of events, and the eventfd that wakes it.
type shard struct {
	loop            *Loop
	rec             *record.Recorder
	timeout         time.Duration // of one request
	bounded         bool          // the number of requests of a closed loop is
	counters        *record.Counters
	open            *openShard // nil: closed loop
	step            bench.Step
	index           int // this shard
	count           int // number of shards
	mix             *workload.Mix
	addrs           []unix.Sockaddr
	conns           []conn
	active          int // connections that are not idle
	epoll           int
	ring            *uring // nil: epoll reports what has happened
	wakeFD          int    // an eventfd
	in              []byte
	events          []unix.EpollEvent
	next            int64   // when connections have to be looked at for timeouts and ends of rests
	known           uint8   // see parser
	idle            int64   // spent waiting for events within the interval
	batch           []int32 // with a ring: connections whose requests are not submitted yet
	running         bool    // with a ring: from now on that is used
	woke            int64   // from the last long sleep
	slept           bool    // for long, before the events at hand came
	stamps          StampReader
	ended           bool    // the sending has
	resting         int     // connections that are
	startTimesKnown bool    // it is known when they begin
	begun           bool    // the interval has
	refused         []int32 // connections that could not be opened
}

// now returns the clock of the step.
func (s *shard) now() int64 { return s.rec.Now() }

// run sends until the sending ends and returns when nothing is in flight any more.
func (s *shard) run() {
	if s.ring != nil {
		s.useRing()
	}
	s.counters.Lock()
	s.next = math.MaxInt64
	s.events = s.events[:0]
	s.active = len(s.conns)
	for i := range s.conns {
		s.begin(&s.conns[i], i)
	}
	for s.active > 0 {
		if s.loop.cutNow.Load() {
			s.cutAll()
			break
		}
		if s.ring != nil {
			s.awaitRing()
		} else {
			s.await(math.MaxInt64)
		}
		s.counters.InFlight(&s.rec.Interval, s.now(), s.active-s.resting)
		s.notice()
		s.serve()
	}
	s.counters.Unlock()
	if s.ring != nil {
		s.ring.close()
		s.ring = nil
	}
}

// notice takes in that the sending has ended, or that it is known when connections begin.
func (s *shard) notice() {
	if s.rec.Stopped() && !s.ended {
		s.ended = true
		s.counters.Backlog = int64(s.active - s.resting)
		s.wakeResting()
	}
	known, begun := s.rec.StartTimesKnown(), s.rec.From() != record.Undecided
	if known == s.startTimesKnown && begun == s.begun {
		return
	}
	s.startTimesKnown, s.begun = known, begun
	for i := range s.conns {
		if c := &s.conns[i]; c.state == resting && c.until == record.Undecided {
			c.until = s.rec.Beginning(s.globalIndex(i))
			s.next = min(s.next, c.until)
		}
	}
}

// place returns the number of connection i of the shard among those of all shards.
func (s *shard) globalIndex(i int) int { return min(s.index+i*s.count, max(s.step.Connections-1, 0)) }

// begin lets c ask for the first time, or lets it rest until its time has come.
func (s *shard) begin(c *conn, i int) {
	now, at := s.now(), s.rec.Beginning(s.globalIndex(i))
	if at <= now {
		s.sendNext(c, i, now)
		return
	}
	s.rest(c, now, at)
}

// rest lets c wait until then.
func (s *shard) rest(c *conn, now, until int64) {
	c.state, c.start, c.until = resting, now, until
	s.resting++
	s.next = min(s.next, until)
}

// rested ends the rest of c.
func (s *shard) endRest(c *conn, now int64) {
	s.counters.BackoffTime += s.rec.Overlap(c.start, now)
	s.resting--
}

// await takes the events that there are, or waits for some, but not beyond until nor the next look.
func (s *shard) await(until int64) {
	// With many events at hand there are probably more: then it is worth asking without the way
	// round through the scheduler, which a wait takes.
	busy := len(s.events) >= 8
	s.events = s.events[:cap(s.events)]
	s.counters.Unlock()
	n, errno := 0, syscall.Errno(0)
	if busy {
		n, errno = pollNow(s.epoll, s.events)
	}
	s.slept = false
	if len(s.refused) > 0 {
		until = 0
	}
	if n <= 0 || errno != 0 {
		left, began := int64(-1), s.now()
		if until = min(until, s.next); until != math.MaxInt64 {
			left = max(until-began, 0)
		}
		if n, errno = poll(s.epoll, s.events, left); errno != 0 {
			n = 0 // interrupted
		}
		now := s.now()
		if now-began >= int64(minSleep) {
			s.woke = now
		}
		s.slept = s.woke > 0 && now-s.woke < int64(time.Millisecond) // and what comes right after
		s.idle += int64(s.rec.Overlap(began, now))
	}
	s.counters.Lock()
	s.events = s.events[:n]
}

// serve handles the events that await has taken, and timeouts.
func (s *shard) serve() {
	s.failRefused()
	if s.ring != nil {
		s.serveRing()
	}
	for i := range s.events {
		e := &s.events[i]
		if e.Fd == wakeIndex {
			s.drainWake()
			continue
		}
		s.handle(&s.conns[e.Fd], int(e.Fd), e.Events)
	}
	if s.next != math.MaxInt64 {
		if now := s.now(); now >= s.next {
			s.expire(now)
		}
	}
}

func (s *shard) interest(c *conn, i int, events uint32) {
	// It fails only for a descriptor that is not there.
	_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_MOD, int(c.fd), &unix.EpollEvent{Events: events, Fd: int32(i)})
}

// expire handles the connections whose time is over.
func (s *shard) expire(now int64) {
	s.next = math.MaxInt64
	for i := range s.conns {
		c := &s.conns[i]
		if c.state == idle {
			continue
		}
		switch {
		case c.until > now:
		case c.state == resting:
			s.endRest(c, now)
			s.resume(c, i, now)
		default:
			s.fail(c, i, now, os.ErrDeadlineExceeded)
		}
		if c.state != idle && c.until < s.next {
			s.next = c.until
		}
	}
	// Not more often than a thousand times a second, and timeouts come that much late at most.
	if s.next != math.MaxInt64 {
		s.next = max(s.next, now+int64(time.Millisecond))
	}
}

// wakeResting ends the rests: nothing is sent after them but by users in the middle of a session, who do not
// think any more.
func (s *shard) wakeResting() {
	now := s.now()
	for i := range s.conns {
		if c := &s.conns[i]; c.state == resting {
			s.endRest(c, now)
			s.resume(c, i, now)
		}
	}
}

// retire lets c have no request any more.
func (s *shard) retire(c *conn) {
	c.state = idle
	s.active--
}

// cutAll ends what is in flight without waiting for it.
func (s *shard) cutAll() {
	for i := range s.conns {
		switch c := &s.conns[i]; c.state {
		case idle:
		case resting:
			s.endRest(c, s.now())
			s.retire(c)
		default:
			s.counters.CutOff(&s.rec.Interval, c.start, s.now())
			s.counters.Drop(s.rec.Phase(s.now()), int64(c.remaining), false)
			s.hangUp(c)
			s.retire(c)
		}
	}
}

func (s *shard) hangUp(c *conn) {
	if c.fd >= 0 {
		if s.running && s.ring != nil {
			s.detachRing(c)
		}
		unix.Close(int(c.fd)) // epoll forgets it
		c.fd = -1
	}
}

func (s *shard) close() {
	if s.ring != nil { // it has not run
		s.ring.close()
		s.ring = nil
	}
	for i := range s.conns {
		s.hangUp(&s.conns[i])
	}
	unix.Close(s.epoll)
	unix.Close(s.wakeFD)
}

// wake makes await return.
func (s *shard) wake() {
	one := [8]byte{0: 1}
	_, _ = unix.Write(s.wakeFD, one[:]) // it fails only when it is to wake already
}

// drainWake empties the eventfd, so it can wake the shard again.
func (s *shard) drainWake() {
	var n [8]byte
	_, _ = unix.Read(s.wakeFD, n[:])
}
