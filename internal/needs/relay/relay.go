// Package relay lets containers reach what listens on this machine, and only those of the network of a run.
package relay

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	relayMax         = 8192 // connections at once; more are refused
	relayDialTimeout = 5 * time.Second
)

// relay forwards TCP connections from an address of this machine to a server, for contenders
// behind a bridge, which cannot reach the loopback interface. On Linux, io.Copy between two TCP
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

// To forwards the TCP connections of peers to a target, from a free port of an address of this
// machine, until stop is called.
func To(target, host string, peers ...netip.Prefix) (address string, stop func() error, err error) {
	l, err := Listen(net.JoinHostPort(host, "0"), peers...)
	if err != nil {
		return "", nil, err
	}
	r := &relay{listener: l, target: target, slots: make(chan struct{}, relayMax), conns: map[net.Conn]struct{}{}}
	r.done.Go(r.serve)
	return l.Addr().String(), r.close, nil
}

func (r *relay) serve() {
	for {
		c, err := r.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // out of file descriptors: one may be free then
			continue
		}
		select {
		case r.slots <- struct{}{}:
			r.done.Go(func() {
				defer func() { <-r.slots }()
				r.forward(c)
			})
		default:
			c.Close()
		}
	}
}

func (r *relay) forward(in net.Conn) {
	defer r.forget(in)
	if !r.track(in) {
		return
	}
	out, err := net.DialTimeout("tcp", r.target, relayDialTimeout)
	if err != nil {
		return // the contender sees a closed connection, as from a server that is down
	}
	defer r.forget(out)
	if !r.track(out) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { pipe(in, out) })
	pipe(out, in)
	back.Wait()
}

// pipe copies until from ends and passes the end on. An error ends both directions.
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

// track makes close close c as well. It returns false if the relay is closed already.
func (r *relay) track(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.conns[c] = struct{}{}
	}
	return !r.closed
}

func (r *relay) forget(c net.Conn) {
	c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
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
