package seed

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// memory is a network with one server. Its connections are pipes, so time can be virtual for
// both ends (testing/synctest), which sockets do not allow.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

// newMemory returns a network whose server is listening.
func newMemory() *memory { return &memory{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Addr returns the server's address.
func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9200} }

// Accept returns the server's end of the next connection.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the server's listening; open connections stay open.
func (m *memory) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

// DialContext connects to the server, whatever the address.
func (m *memory) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
