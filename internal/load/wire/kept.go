package wire

import (
	"io"
	"sync"
)

// Kept keeps connections open between steps. A step that needs more opens the difference, and one
// that needs fewer closes none. The zero value is ready to use for consecutive steps of one engine;
// Close it after the last.
type Kept struct {
	mu     sync.Mutex
	closed bool
	idle   map[string][]io.Closer // by key
}

// Put keeps a connection, or closes it after Close.
func (k *Kept) Put(key string, c io.Closer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		c.Close()
		return
	}
	if k.idle == nil {
		k.idle = map[string][]io.Closer{}
	}
	k.idle[key] = append(k.idle[key], c)
}

// Take returns the connection that was kept longest; nil if there is none.
func (k *Kept) Take(key string) io.Closer {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	list := k.idle[key]
	if len(list) == 0 {
		return nil
	}
	k.idle[key] = list[1:]
	return list[0]
}

// Close closes all kept connections, and those kept later.
func (k *Kept) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for _, list := range k.idle {
		for _, c := range list {
			c.Close()
		}
	}
	k.idle = nil
}
