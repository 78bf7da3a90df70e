package load

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// contender is a server without sockets, for tests in virtual time (testing/synctest), in which a
// step is exact to the nanosecond. Engine vegeta uses it through pipes. It responds to request
// n, from 1, after delay(n). A delay of an hour stands for never.
type contender struct {
	delay func(n int64) time.Duration
	ended <-chan struct{} // closed when the test has ended

	asked, answered, atWork, connections atomic.Int64

	mu      sync.Mutex
	journal []time.Time // times of the responses
}

func newContender(t *testing.T, delay func(n int64) time.Duration) *contender {
	return &contender{delay: delay, ended: t.Context().Done()}
}

// steady returns a contender with the same delay for each response.
func steady(t *testing.T, d time.Duration) *contender {
	return newContender(t, func(int64) time.Duration { return d })
}

// engine returns an engine that drives load on the contender.
func (c *contender) engine() Engine { return Engine{Dial: c.dial, sleep: time.Sleep} }

// virtualURL has an address that needs no lookup.
const virtualURL = "http://127.0.0.1:1"

func (c *contender) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	c.connections.Add(1)
	go c.serve(server)
	return client, nil
}

func (c *contender) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		c.atWork.Add(1)
		select {
		case <-time.After(c.delay(c.asked.Add(1))):
		case <-c.ended:
			return
		}
		c.atWork.Add(-1)
		c.mu.Lock()
		c.journal = append(c.journal, time.Now())
		c.mu.Unlock()
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"); err != nil {
			return
		}
		c.answered.Add(1)
	}
}

// count returns how many responses have been sent, once all goroutines are idle at this moment.
func (c *contender) count() int64 {
	synctest.Wait()
	return c.answered.Load()
}

// between returns how many responses lie in an interval.
func (c *contender) between(from time.Time, length time.Duration) (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.journal {
		if !at.Before(from) && at.Before(from.Add(length)) {
			n++
		}
	}
	return n
}
