package testenv

import (
	"sync/atomic"
	"time"
)

// Crowd counts the requests in flight of a handler that behaves differently from three on.
type Crowd struct {
	wait   time.Duration
	flying atomic.Int64
	third  chan struct{}
}

// NewCrowd returns a Crowd in which a request waits that long for two others.
func NewCrowd(wait time.Duration) *Crowd { return &Crowd{wait: wait, third: make(chan struct{})} }

// Enter waits for two other requests, and reports whether they came.
func (c *Crowd) Enter() bool {
	defer c.flying.Add(-1)
	if c.flying.Add(1) >= 3 {
		for range 2 {
			select {
			case c.third <- struct{}{}:
			default:
			}
		}
		return true
	}
	select {
	case <-c.third:
		return true
	case <-time.After(c.wait):
		return false
	}
}
