package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// act is what a server does with a request. The zero value responds at once with status 200.
type act struct {
	does  func()          // first
	until <-chan struct{} // then it waits for this, if not nil,
	wait  time.Duration   // and then for a time
	ends  bool            // the connection, after the response
	mute  bool            // there is no response
}

// forever is longer than any test.
const forever = 1000 * time.Hour

// A script says what a server does with request n, from 1, which is request m of those that came
// since OnStart, or 0.
type script func(s *server, n, m int64) act

func after(d time.Duration) script { return func(*server, int64, int64) act { return act{wait: d} } }

// server does what its script says: on sockets, or through pipes in virtual time (testing/synctest),
// in which a step is exact to the nanosecond.
type server struct {
	url           string
	script        script
	started, over chan struct{} // closed by OnStart and OnEnd
	ended         <-chan struct{}
	cancel        context.CancelCauseFunc // of the step

	listener                                                            net.Listener // nil: pipes
	asked, answered, atWork, connections, since, atOnStart, early, held atomic.Int64

	mu      sync.Mutex
	dead    bool
	conns   []net.Conn
	journal []time.Time // of the responses
	reached map[int64]chan struct{}
	hooks   []time.Time // of OnStart and OnEnd, one after the other
	serving sync.WaitGroup
}

func newServer(t testing.TB, of script) *server {
	s := &server{script: of, started: make(chan struct{}), over: make(chan struct{}), ended: t.Context().Done(), url: "http://127.0.0.1:1"}
	if of == nil {
		s.script = func(*server, int64, int64) act { return act{} }
	}
	return s
}

// pipes returns an engine that drives load on the server in virtual time.
func (s *server) pipes() Engine { return Engine{Dial: s.dial, sleep: time.Sleep} }

func (s *server) dial(context.Context, string, string) (net.Conn, error) {
	client, conn := net.Pipe()
	if !s.serve(conn) {
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	return client, nil
}

// listen opens a port.
func (s *server) listen(t testing.TB) *server {
	t.Helper()
	s.listener = testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s.url = "http://" + s.listener.Addr().String()
	s.serving.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil || !s.serve(conn) {
				return
			}
		}
	})
	t.Cleanup(func() {
		s.die()
		s.serving.Wait()
	})
	return s
}

// die closes the port and all connections.
func (s *server) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
	if s.listener != nil {
		s.listener.Close()
	}
	s.closeAll()
}

// hangUp closes all connections.
func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeAll()
}

func (s *server) closeAll() {
	for _, conn := range s.conns {
		conn.Close()
	}
}

func (s *server) serve(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		conn.Close()
		return false
	}
	s.conns = append(s.conns, conn)
	s.connections.Add(1)
	s.serving.Go(func() {
		defer conn.Close()
		for r := bufio.NewReader(conn); ; {
			for line := ""; line != "\r\n"; {
				var err error
				if line, err = r.ReadString('\n'); err != nil {
					return
				}
			}
			if !s.respond(conn) {
				return
			}
		}
	})
	return true
}

func (s *server) respond(conn net.Conn) (more bool) {
	s.atWork.Add(1)
	m := int64(0)
	if closed(s.started) {
		m = s.since.Add(1)
	}
	n := s.asked.Add(1)
	s.mu.Lock()
	if reached := s.reached[n]; reached != nil {
		close(reached)
	}
	s.mu.Unlock()
	a := s.script(s, n, m)
	if a.does != nil {
		a.does()
	}
	if a.until != nil {
		s.held.Add(1)
		select {
		case <-a.until:
		case <-s.ended:
			return false
		}
	}
	if a.wait > 0 {
		select {
		case <-time.After(a.wait):
		case <-s.ended:
			return false
		}
	}
	if n == 1 {
		s.early.Store(s.connections.Load())
	}
	if s.atWork.Add(-1); a.mute {
		return false
	}
	s.mu.Lock()
	s.journal = append(s.journal, time.Now())
	s.mu.Unlock()
	s.answered.Add(1) // the client may have it right after
	if _, err := io.WriteString(conn, okResponse); err != nil {
		s.answered.Add(-1)
		return false
	}
	return !a.ends
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// at returns a channel that is closed by request n.
func (s *server) at(n int64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reached == nil {
		s.reached = map[int64]chan struct{}{}
	}
	if s.reached[n] == nil {
		if s.reached[n] = make(chan struct{}); s.asked.Load() >= n {
			close(s.reached[n])
		}
	}
	return s.reached[n]
}

// between returns how many responses lie in an interval.
func (s *server) between(from time.Time, length time.Duration) (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.journal {
		if !at.Before(from) && at.Before(from.Add(length)) {
			n++
		}
	}
	return n
}

// see adds what the server knows to the facts.
func (s *server) see(f facts, l bench.Load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f["asked"], f["answered"], f["connections"] = float64(s.asked.Load()), float64(s.answered.Load()), float64(s.connections.Load())
	f["hooks"], f["before"], f["early"], f["held"] = float64(len(s.hooks)), float64(s.atOnStart.Load()), float64(s.early.Load()), float64(s.held.Load())
	if len(s.hooks) > 1 {
		f["after"] = s.elapsed(s.hooks[1]).Seconds() * 1000
		f["startlag"] = float64(s.hooks[0].Sub(l.Started)) / 1e6
		f["endlag"] = float64(s.hooks[1].Sub(l.Started.Add(l.Elapsed))) / 1e6
	}
}

// elapsed returns the time from a moment on.
func (s *server) elapsed(from time.Time) time.Duration { return time.Since(from) }

// hook notes the calls of a plan's hooks.
func (s *server) hook(p *Plan) {
	note := func(of chan struct{}, own func()) func() {
		return func() {
			s.mu.Lock()
			s.hooks = append(s.hooks, time.Now())
			if s.mu.Unlock(); !closed(of) {
				s.atOnStart.CompareAndSwap(0, s.answered.Load())
				close(of)
			}
			if own != nil {
				own()
			}
		}
	}
	p.OnStart, p.OnEnd = note(s.started, p.OnStart), note(s.over, p.OnEnd)
}

// inAllLoops runs a test in virtual time, in which all is exact, and with each loop.
func inAllLoops(t *testing.T, of script, test func(t *testing.T, e Engine, s *server, exact bool)) {
	t.Helper()
	inVirtualTime(t, of, func(t *testing.T, e Engine, s *server) { test(t, e, s, true) })
	inEachLoop(t, of, func(t *testing.T, e Engine, s *server) { test(t, e, s, false) })
}

func inEachLoop(t *testing.T, of script, test func(t *testing.T, e Engine, s *server)) {
	t.Helper()
	eachLoop(t, func(t *testing.T, e Engine) {
		t.Parallel()
		test(t, e, newServer(t, of).listen(t))
	})
}

func inVirtualTime(t *testing.T, of script, test func(t *testing.T, e Engine, s *server)) {
	t.Helper()
	t.Run("virtual", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, of)
			test(t, s.pipes(), s)
		})
	})
}

// raw returns the address of a server that handles connections below HTTP. serve handles a request whose
// head has been read, and returns whether the connection stays open.
func raw(t testing.TB, serve func(conn net.Conn, request string) (keep bool)) (url string) {
	t.Helper()
	return accepting(t, func(conn net.Conn) {
		defer conn.Close()
		for r := bufio.NewReader(conn); ; {
			var head strings.Builder
			for line := ""; line != "\r\n"; head.WriteString(line) {
				var err error
				if line, err = r.ReadString('\n'); err != nil {
					return
				}
			}
			if !serve(conn, head.String()) {
				return
			}
		}
	}).url
}

// refusing returns an address at which no process listens: its port is that of a connection.
func refusing(t testing.TB) (address string) {
	t.Helper()
	listener := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	conn := testenv.Must(net.Dial("tcp", listener.Addr().String()))(t)
	t.Cleanup(func() {
		conn.Close()
		listener.Close()
	})
	return conn.LocalAddr().String()
}

// oddServer is a server that counts its connections.
type oddServer struct {
	url      string
	accepted atomic.Int64
}

// accepting returns a server that passes each connection to handle, which need not close it.
func accepting(t testing.TB, handle func(net.Conn)) *oddServer {
	t.Helper()
	listener := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &oddServer{url: "http://" + listener.Addr().String()}
	var serving sync.WaitGroup
	var conns []net.Conn
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns = append(conns, conn)
			s.accepted.Add(1)
			serving.Go(func() { handle(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
		for _, conn := range conns {
			conn.Close()
		}
	})
	return s
}

// sees checks how many connections there have been. The server may accept one later than the
// client opens it.
func (s *oddServer) sees(t *testing.T, want int64) {
	t.Helper()
	what := fmt.Sprintf("%d connections are accepted", want)
	testenv.Until(t, 30*time.Second, what, func() bool { return s.accepted.Load() >= want })
	testenv.Equal(t, s.accepted.Load(), want, "connections")
}
