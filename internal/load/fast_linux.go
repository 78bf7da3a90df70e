package load

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"locbench/internal/thread"
)

// maxShards bounds the threads of the fast loop.
const maxShards = 8

// fastLoop is the loop of Linux for HTTP/1.1 in clear: a few shards, each a thread with an epoll and connections of its own; one
// shard for an open loop, so that there is one schedule. See docs/decisions for how that lives with Go's scheduler and garbage collector.
type fastLoop struct {
	rec     *recorder
	timeout time.Duration
	addrs   []netip.AddrPort
	addr    atomic.Int32 // index of the one that has answered
	shards  []*shard
	keep    *Kept // nil: connections are closed with the step
	cutNow  atomic.Bool
	bounded bool // the number of requests is
}

// newFastLoop makes the loop, or returns nil where only the portable one will do.
func newFastLoop(ctx context.Context, e Engine, plan Plan, network target, rec *recorder, connections int) loop {
	if e.Portable || e.Dial != nil || network.tls != nil || plan.HTTP2 {
		return nil
	}
	l := &fastLoop{rec: rec, keep: e.Keep, timeout: plan.Timeout, addrs: resolve(ctx, network.address), bounded: rec.max > 0}
	if len(l.addrs) == 0 {
		return nil
	}
	n := min(shards(e), connections)
	if plan.Step.Open() {
		n = 1
	}
	for i := range n {
		// As evenly as it goes.
		share := connections*(i+1)/n - connections*i/n
		s, err := newShard(e, l, plan, i, n, share)
		if err != nil {
			l.close()
			return nil
		}
		if plan.Step.Open() {
			s.open = newOpenShard(s, plan)
			rec.users = plan.Step.Arrivals != nil
		}
		l.shards = append(l.shards, s)
		rec.accounts = append(rec.accounts, s.account)
	}
	rec.wake = l.wake
	return l
}

// shards is the number of threads: half of the CPUs, since the other half is for what is measured.
func shards(e Engine) int {
	if e.Shards > 0 {
		return min(e.Shards, maxShards)
	}
	return min(max(thread.Cores()/2, 1), maxShards)
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())}
	}
	return &unix.SockaddrInet6{Addr: a.Addr().As16(), Port: int(a.Port())}
}

// connect opens the connections before the clock starts, as far as that is possible within dialTime. It returns how many are
// open then.
func (l *fastLoop) connect(ctx context.Context) (opened int) {
	until := time.Now().Add(min(dialTime, l.timeout))
	// A name with several addresses: the first at which anybody answers.
	for i := range l.addrs {
		l.addr.Store(int32(i))
		var wg sync.WaitGroup
		for _, s := range l.shards {
			wg.Go(func() { s.connectAll(ctx, until) })
		}
		wg.Wait()
		opened = 0
		for _, s := range l.shards {
			opened += s.opened()
		}
		if opened > 0 {
			return opened
		}
	}
	return 0
}

// run sends until the recorder is stopped and returns when all is drained.
func (l *fastLoop) run(context.Context) {
	var wg sync.WaitGroup
	for _, s := range l.shards {
		wg.Go(func() {
			// A thread of its own keeps the shard's connections on one CPU's caches, and no other goroutine gets between it and
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
	l.rec.loop = "epoll"
	for _, s := range l.shards {
		l.rec.idled(time.Duration(s.idle))
		if s.running {
			l.rec.loop = "io_uring"
		}
	}
}

// wake lets every shard look at what has been asked of it.
func (l *fastLoop) wake() {
	for _, s := range l.shards {
		s.signal()
	}
}

// cut ends all exchanges in flight.
func (l *fastLoop) cut() {
	l.cutNow.Store(true)
	l.wake()
}

func (l *fastLoop) places() (n int) {
	for _, s := range l.shards {
		n += s.places()
	}
	return n
}

func (l *fastLoop) close() {
	for _, s := range l.shards {
		if l.keep != nil {
			s.handOver()
		}
		s.close()
	}
}

// newShard makes a shard with its share of the connections.
func newShard(e Engine, l *fastLoop, plan Plan, i, of, connections int) (*shard, error) {
	m, err := newShardMix(plan, i, of)
	if err != nil {
		return nil, err
	}
	s := &shard{
		loop: l, step: plan.Step, number: i, of: of, account: newAccount(plan.Step.Open(), m), mix: m, conns: make([]conn, connections),
		in: make([]byte, readSize), events: make([]unix.EpollEvent, maxEvents),
	}
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if s.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(s.epoll)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, s.bell, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: bellIndex}); err != nil {
		s.close()
		return nil, fmt.Errorf("epoll: %w", err)
	}
	for i := range s.conns {
		s.conns[i].fd = -1
	}
	if !e.Epoll && !plan.Step.Open() {
		s.ring, _ = newRing(connections) // without one it goes on with epoll
	}
	for _, a := range l.addrs {
		s.addrs = append(s.addrs, sockaddr(a)) // of its own: it is written to when it is used
	}
	return s, nil
}
