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

// contender is a server without sockets, for tests in virtual time (testing/synctest): there the
// course of a step is exact to the nanosecond, whatever the machine does. The portable loop asks it
// through pipes. It answers the n-th request, from 1, after delay(n), so a closed loop lets
// time continue; an hour is as good as never.
type contender struct {
	delay func(n int64) time.Duration
	ended <-chan struct{} // the test has

	asked, answered, atWork, connections atomic.Int64

	mu      sync.Mutex
	journal []time.Time // of the responses
}

func newContender(t *testing.T, delay func(n int64) time.Duration) *contender {
	return &contender{delay: delay, ended: t.Context().Done()}
}

// steady returns a contender that takes as long for each response.
func steady(t *testing.T, d time.Duration) *contender {
	return newContender(t, func(int64) time.Duration { return d })
}

// engine drives load on it.
func (c *contender) engine() Engine { return Engine{Dial: c.dial, sleep: time.Sleep} }

// virtualURL is where nobody is asked for an address.
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

// count returns how many answers have been given, once nobody has anything to do at this moment.
func (c *contender) count() int64 {
	synctest.Wait()
	return c.answered.Load()
}

// between returns how many answers lie in an interval.
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
