package fast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/host/thread"
)

// Loop is a few shards, each a thread with an epoll or io_uring and its own connections. An open
// loop has one shard, so there is one schedule. docs/decisions says how that works with Go's
// scheduler and garbage collector.
type Loop struct {
	conf   Config
	addr   atomic.Int32 // index of the address that accepted a connection
	shards []*shard
	cutNow atomic.Bool
}

// New makes the loop; it takes an address of the contender.
func New(c Config) (*Loop, error) {
	step := c.Step
	l := &Loop{conf: c}
	if len(c.Addresses) == 0 {
		return nil, errors.New("the contender's name has no address")
	}
	n := min(cmp.Or(c.Shards, thread.LoadThreads()), c.Connections)
	if step.Open() {
		n = 1
	}
	for i := range n {
		// As evenly as possible.
		share := c.Connections*(i+1)/n - c.Connections*i/n
		s, err := newShard(l, i, n, share)
		if err != nil {
			l.Close()
			return nil, err
		}
		if step.Open() {
			s.open = newOpenShard(s)
		}
		l.shards = append(l.shards, s)
	}
	c.Recorder.OnWake(l.wake)
	return l, nil
}

// Has returns why this system cannot run the loop, with io_uring or with epoll; nil if it can.
func Has(ring bool) error {
	if !ring {
		return nil
	}
	r, err := newRing(1)
	if err == nil {
		r.close()
	}
	return err
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())}
	}
	return &unix.SockaddrInet6{Addr: a.Addr().As16(), Port: int(a.Port())}
}

// Connect opens the connections before the clock starts, as far as possible within DialTime.
func (l *Loop) Connect(ctx context.Context) {
	until := time.Now().Add(l.conf.DialTime)
	// A name may have several addresses: use the first that accepts a connection.
	for i := range l.conf.Addresses {
		l.addr.Store(int32(i))
		var wg sync.WaitGroup
		for _, s := range l.shards {
			wg.Go(func() { s.connectAll(ctx, until) })
		}
		wg.Wait()
		if slices.ContainsFunc(l.shards, (*shard).anyOpened) {
			return
		}
	}
}

// Run sends until the recorder is stopped, and returns when nothing is in flight.
func (l *Loop) Run(context.Context) {
	defer thread.Driving()()
	var wg sync.WaitGroup
	for _, s := range l.shards {
		wg.Go(func() {
			// A locked thread keeps its connections in one CPU's caches, and no goroutine delays
			// its events.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if s.open != nil {
				s.open.run()
			} else {
				s.run()
			}
		})
	}
	wg.Wait()
	l.conf.Recorder.Loop = "epoll"
	for _, s := range l.shards {
		l.conf.Recorder.Idled(time.Duration(s.idle))
		if s.running {
			l.conf.Recorder.Loop = "io_uring"
		}
	}
}

// wake makes every shard check its state.
func (l *Loop) wake() {
	for _, s := range l.shards {
		s.waker.wake()
	}
}

// Cut ends all exchanges in flight.
func (l *Loop) Cut() {
	l.cutNow.Store(true)
	l.wake()
}

// Close closes all connections, or keeps them for the next step.
func (l *Loop) Close() {
	for _, s := range l.shards {
		if l.conf.Keep != nil {
			s.keepConnections()
		}
		s.close()
	}
}

// newShard makes a shard with its part of the connections.
func newShard(l *Loop, i, count, connections int) (*shard, error) {
	step := l.conf.Step
	var err error
	s := &shard{
		loop: l, rec: l.conf.Recorder, timeout: l.conf.Timeout, step: step, bounded: !step.Open() && step.MaxRequests > 0,
		index: i, count: count, counters: l.conf.Recorder.NewCounters(), mix: l.conf.Mix, conns: make([]conn, connections),
		in: make([]byte, readSize), events: make([]unix.EpollEvent, maxEvents),
	}
	for i := range s.conns {
		s.conns[i].fd = -1
	}
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if err = s.waker.open(); err != nil {
		unix.Close(s.epoll)
		return nil, err
	}
	wake := &unix.EpollEvent{Events: unix.EPOLLIN, Fd: wakeIndex}
	if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, s.waker.fd, wake); err != nil {
		s.close()
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if !l.conf.Epoll {
		s.ring, _ = newRing(connections) // without a ring, epoll is used
	}
	for _, a := range l.conf.Addresses {
		s.addrs = append(s.addrs, sockaddr(a)) // a copy, as connecting writes to it
	}
	return s, nil
}
