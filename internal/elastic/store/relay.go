package store

import (
	"io"
	"net"
	"sync"
	"time"
)

const (
	relayMax         = 8192 // connections at once; more are refused
	relayDialTimeout = 5 * time.Second
)

// relay forwards TCP connections from an address of this machine to the store, for contenders
// behind a bridge that cannot reach the loopback interface. On Linux io.Copy between two TCP
// connections moves the bytes inside the kernel.
type relay struct {
	listener net.Listener
	target   string
	slots    chan struct{}
	done     sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

func newRelay(l net.Listener, target string) *relay {
	r := &relay{listener: l, target: target, slots: make(chan struct{}, relayMax), conns: map[net.Conn]struct{}{}}
	r.done.Go(r.serve)
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) serve() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			if r.isClosed() {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of file descriptors: the next may find one
			continue
		}
		select {
		case r.slots <- struct{}{}:
		default:
			c.Close()
			continue
		}
		r.done.Go(func() {
			defer func() { <-r.slots }()
			r.forward(c)
		})
	}
}

func (r *relay) forward(in net.Conn) {
	defer in.Close()
	if !r.track(in) {
		return
	}
	defer r.forget(in)
	out, err := net.DialTimeout("tcp", r.target, relayDialTimeout)
	if err != nil {
		return // the contender sees a closed connection, as from a store that is down
	}
	defer out.Close()
	if !r.track(out) {
		return
	}
	defer r.forget(out)

	back := make(chan struct{})
	go func() {
		defer close(back)
		pipe(in, out)
	}()
	pipe(out, in)
	<-back
}

// pipe copies until from ends and passes the end on; after an error both directions are over.
func pipe(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		from.Close()
		return
	}
	if t, ok := to.(*net.TCPConn); ok {
		t.CloseWrite()
	}
}

func (r *relay) track(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.conns[c] = struct{}{}
	return true
}

func (r *relay) forget(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
}

func (r *relay) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

func (r *relay) close() error {
	r.mu.Lock()
	r.closed = true
	for c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	err := r.listener.Close()
	r.done.Wait()
	return err
}
