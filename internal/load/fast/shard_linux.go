package fast

import (
	"math"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/thread"
	"github.com/locbench/locbench/internal/load/http1"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/workload"
)

const (
	readSize  = 64 << 10 // bytes of the one buffer a shard reads into
	maxEvents = 512      // events taken at a time
	wakeIndex = -1       // index that stands for the waker
	maxReads  = 16       // reads from one connection before the others are served

	// epoll reports each arrival once, so it need not look again at every connection it has
	// reported.
	arrivals = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET
	room     = unix.EPOLLOUT
	hangUps  = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR // the contender sends no more
)

// epollEvents returns the events epoll is to report for c now.
func (c *conn) epollEvents() uint32 {
	if c.state == sending || c.state == connecting {
		return arrivals | room
	}
	return arrivals
}

// state is what a connection is doing.
type state uint8

const (
	idle       state = iota // it has no request and gets no more
	connecting              // opening for its request
	sending                 // sending what the socket did not take at once
	waiting                 // waiting for the response
	resting                 // pausing: before opening again, thinking, or before its start time
)

// conn is one connection of a shard. Times are ns since the start of the step.
type conn struct {
	parser   http1.Parser
	req      *workload.Request
	user     workload.User
	start    int64  // when the request was sent
	until    int64  // when its timeout or its rest ends
	out      []byte // the bytes of the request; with a ring the kernel may still read them
	sent     int    // bytes of the request known to have been sent
	fd       int32  // -1: not open
	state    state
	opened   bool   // it has been open before
	failures uint16 // failed dials in a row

	dialedNow  bool   // opened for this request, so the latency includes the dial
	queued     uint32 // with a ring: position after its last submission
	generation uint32 // with a ring: number of its socket, to recognize completions of an earlier one
	unsent     bool   // with a ring: part of a long request may not be sent yet

	lag       int64 // open loop: from the scheduled time to start
	remaining int   // iterations that the user still makes after this one
	waited    bool  // the job waited for a connection, and its user thinks before the first request

	iterating record.Iterating
	answered  bool  // the first response has arrived
	thinking  bool  // it rests while its user thinks
	refused   error // why it could not be opened; handled in the next batch
}

// shard serves its connections from one thread. It shares only the counters, whose lock it holds
// while it handles a batch of events, and its waker.
type shard struct {
	loop            *Loop
	rec             *record.Recorder
	timeout         time.Duration // timeout of one request
	bounded         bool          // a closed loop with a bounded number of requests
	counters        *record.Counters
	open            *openShard // nil in a closed loop
	step            bench.Step
	index           int // this shard
	count           int // number of shards
	mix             *workload.Mix
	addrs           []unix.Sockaddr
	conns           []conn
	active          int // number of connections that are not idle
	epoll           int
	ring            *uring // nil: epoll is used
	wait            thread.Wait
	timeLeft        kernelTime // of the wait
	waker           waker
	in              []byte
	events          []unix.EpollEvent
	next            int64   // when to check connections for timeouts and ends of rests
	known           uint8   // see http1.Parser
	idle            int64   // ns spent waiting for events within the measured interval
	batch           []int32 // with a ring: connections whose requests are not submitted yet
	running         bool    // the ring is in use
	waited          bool    // with a ring: nothing was there the last time
	woke            int64   // when the last long sleep ended
	slept           bool    // the thread slept for long before the current events came
	stamps          StampReader
	attentive       int64   // open loop: until then responses cannot wait for the next scheduled request
	napped          bool    // open loop: the current events have waited for it
	ended           bool    // sending has ended
	resting         int     // number of resting connections
	startTimesKnown bool    // the start times of connections are known
	begun           bool    // the measured interval has begun
	refused         []int32 // connections that could not be opened
}

// now returns the clock of the step.
func (s *shard) now() int64 { return s.rec.Now() }

// run sends until sending ends, and returns when nothing is in flight.
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
			s.awaitRing(math.MaxInt64, 1)
		} else {
			s.await(math.MaxInt64)
		}
		s.counters.InFlight(&s.rec.Interval, s.now(), s.active-s.resting)
		s.notice()
		s.serve()
	}
	s.counters.Unlock()
	s.endRing()
}

// endRing ends what the kernel is doing for the shard.
func (s *shard) endRing() {
	if s.ring != nil {
		s.ring.close()
		s.ring = nil
	}
}

// notice checks whether sending has ended and whether the start times of connections are known.
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

// globalIndex returns the index of connection i of this shard among those of all shards.
func (s *shard) globalIndex(i int) int { return min(s.index+i*s.count, max(s.step.Connections-1, 0)) }

// begin sends the first request on c, or lets c rest until its start time.
func (s *shard) begin(c *conn, i int) {
	now, at := s.now(), s.rec.Beginning(s.globalIndex(i))
	if at <= now {
		s.sendNext(c, i, now)
		return
	}
	s.rest(c, now, at)
}

// rest lets c wait until a moment.
func (s *shard) rest(c *conn, now, until int64) {
	c.state, c.start, c.until = resting, now, until
	s.resting++
	s.next = min(s.next, until)
}

// endRest ends the rest of c.
func (s *shard) endRest(c *conn, now int64) {
	s.counters.BackoffTime += s.rec.Overlap(c.start, now)
	s.resting--
}

// await takes the events that are there, or waits for some until the given moment or s.next,
// whichever is earlier.
func (s *shard) await(until int64) {
	// After a large batch more events are likely, and polling avoids the Go scheduler.
	busy := len(s.events) >= 8
	s.events = s.events[:cap(s.events)]
	s.counters.Unlock()
	n, errno := 0, syscall.Errno(0)
	if busy {
		n, errno = pollNow(s.epoll, s.events)
	}
	s.slept, s.napped = false, false
	if len(s.refused) > 0 {
		until = 0
	}
	if n <= 0 || errno != 0 {
		began := s.now()
		if n, errno = s.poll(left(min(until, s.next), began)); errno != 0 {
			n = 0 // interrupted
		}
		now := s.now()
		if now-began >= int64(minSleep) {
			s.woke = now
		}
		s.slept = s.woke > 0 && now-s.woke < int64(time.Millisecond) // and for what comes right after
		s.idle += int64(s.rec.Overlap(began, now))
	}
	s.counters.Lock()
	s.events = s.events[:n]
}

// left returns how long to wait until a moment, at most.
func left(until, now int64) int64 { return min(max(until-now, 0), int64(thread.LongestWait)) }

// serve handles the events that await has taken, and timeouts.
func (s *shard) serve() {
	s.failRefused()
	if s.ring != nil {
		s.serveRing()
	}
	for i := range s.events {
		e := &s.events[i]
		if e.Fd == wakeIndex {
			s.waker.drain()
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
	// It fails only for a descriptor that is not registered.
	_ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_MOD, int(c.fd), &unix.EpollEvent{Events: events, Fd: int32(i)})
}

// expire handles the connections whose timeout or rest is over.
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
	// At most a thousand times a second, so timeouts are at most 1 ms late.
	if s.next != math.MaxInt64 {
		s.next = max(s.next, now+int64(time.Millisecond))
	}
}

// wakeResting ends all rests. Afterwards users within a session send without thinking.
func (s *shard) wakeResting() {
	now := s.now()
	for i := range s.conns {
		if c := &s.conns[i]; c.state == resting {
			s.endRest(c, now)
			s.resume(c, i, now)
		}
	}
}

// retire gives c no more requests.
func (s *shard) retire(c *conn) {
	c.state = idle
	s.active--
}

// cutAll ends everything in flight without waiting.
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
	s.endRing() // the shard has not run
	for i := range s.conns {
		s.hangUp(&s.conns[i])
	}
	unix.Close(s.epoll)
	s.waker.close()
}
