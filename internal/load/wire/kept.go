package wire

import (
	"io"
	"sync"
)

// Kept keeps connections open from one step to the next, so a step that needs more only opens
// the difference and one that needs fewer closes none. The zero value is ready to use, for the
// steps of one engine after each other; Close it when the last step is over.
type Kept struct {
	mu     sync.Mutex
	closed bool
	idle   map[string][]io.Closer // by who can use them
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

// Take returns a connection that has been kept, the longest one first; nil when there is none.
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

// Close closes what is kept, and what would be kept later.
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
