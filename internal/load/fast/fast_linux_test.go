package fast

import (
	"math"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// config returns the configuration of a loop whose step has one request.
func config(t *testing.T, s bench.Step) Config {
	return configOf(t, s, workload.Plan{Requests: []bench.Request{{Name: "get", Path: "/city"}}})
}

// configOf returns the configuration of a loop with the requests of spec.
func configOf(t *testing.T, s bench.Step, spec workload.Plan) Config {
	t.Helper()
	spec.BaseURL, spec.Step = "http://h", s
	mix := testenv.Must(workload.NewMix(spec))(t)
	return Config{
		Step:        s,
		Mix:         mix,
		Recorder:    record.New(s, mix.Names(), mix.Sessions()...),
		Timeout:     time.Minute,
		DialTime:    time.Minute,
		Connections: s.Connections,
	}
}

// A request on an open connection allocates nothing, from reading the last response to sending; nor
// do variables, values saved from responses and kept requests.
func TestFastLoopDoesNotAllocate(t *testing.T) {
	plain := []bench.Request{{Name: "get", Path: "/city"}}
	users := workload.Plan{
		Sessions: []bench.Session{{Name: "user", Weight: 1}},
		Variables: []bench.Variable{
			{Name: "item", Range: &bench.Range{From: 1, To: 1e6}, Draw: bench.DrawRandom}, {Name: "key", Make: bench.GenerateUUID},
			{Name: "word", List: []string{"a b", "c"}, Draw: bench.DrawZipf, Exponent: 2},
		},
		Requests: []bench.Request{
			{Session: "user", Name: "login", Method: "POST", Path: "/login/{item}", Encoding: bench.JSONBody, Body: `{"word":"{word}","n":"{item:number}"}`,
				Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "data.token"}, {Name: "kind", From: bench.FromHeader, Of: "content-type"}}},
			{Session: "user", Name: "order", Path: "/order/{key}?q={word}", Header: map[string]string{"Authorization": "Bearer {token} {kind}"},
				Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "data.token"}}},
		},
	}
	for name, test := range map[string]struct {
		spec     workload.Plan
		response string
	}{
		"length":  {workload.Plan{Requests: plain}, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("x", 100)},
		"chunked": {workload.Plan{Requests: plain}, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
		"404":     {workload.Plan{Requests: plain}, "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nsorry"},
		"session": {users, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 32\r\n\r\n" + `{"id": 7,"data":{"token":"abc"}}`},
		"session, chunked": {users, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n" +
			`{"id": 7` + "\r\n18\r\n" + `,"data":{"token":"abc"}}` + "\r\n0\r\n\r\n"},
	} {
		response := test.response
		t.Run(name, func(t *testing.T) { exchangesDoNotAllocate(t, true, test.spec, response) })
		t.Run(name+" with io_uring", func(t *testing.T) {
			if err := ringWorks(); err != nil {
				t.Skip("SKIP: ", err)
			}
			exchangesDoNotAllocate(t, false, test.spec, response)
		})
	}
}

func exchangesDoNotAllocate(t *testing.T, epoll bool, spec workload.Plan, response string) {
	c := configOf(t, bench.Step{Connections: 1, Duration: time.Minute, MaxRequests: 1 << 40, KeepRequests: 100}, spec)
	c.Epoll = epoll
	rec := c.Recorder
	rec.Begin(0)
	s, other := onPair(t, c)
	generation := begins(t, s, unix.EPOLLIN)
	in, out := make([]byte, 4096), []byte(response)
	asked := 0
	exchange := func() {
		if n, err := unix.Read(other, in); n <= 0 || err != nil { // Need would allocate
			t.Fatal(n, err)
		}
		testenv.OK(t, testenv.Err(unix.Write(other, out)))
		generation()
		asked++
	}
	for range 2 { // the first of its kind formats an example, or grows the buffer of the response
		exchange()
	}
	testenv.Equal(t, testing.AllocsPerRun(1000, exchange), 0)
	rec.Finish()
	if load := rec.Load(); load.Failed[bench.ErrSave]+load.Failed[bench.ErrOther] > 0 || load.Succeeded+load.FailedTotal() != int64(asked) || load.Sent != int64(asked)+1 {
		t.Errorf("%d succeeded, %d failed, %d sent of %d", load.Succeeded, load.FailedTotal(), load.Sent, asked)
	}
}

// The contender closes an unused connection, or sends something on it. Then it is given up, and the
// next request opens another one.
func TestIdleConnectionIsGivenUp(t *testing.T) {
	for end, do := range map[string]func(fd int){
		"closed":  func(fd int) { _ = unix.Shutdown(fd, unix.SHUT_WR) },
		"surplus": func(fd int) { _, _ = unix.Write(fd, []byte("x")) },
	} {
		for name, connState := range map[string]state{"idle": idle, "resting": resting} {
			t.Run(end+" while "+name, func(t *testing.T) {
				c := config(t, bench.Step{Rate: 1, MaxConnections: 1, Duration: time.Minute})
				c.Connections = 1
				c.Recorder.Begin(0)
				s, other := onPair(t, c)
				conn := &s.conns[0]
				conn.state, conn.until = connState, math.MaxInt64
				add := &unix.EpollEvent{Events: conn.epollEvents(), Fd: 0}
				testenv.OK(t, unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, int(conn.fd), add))
				do(other)
				s.counters.Lock()
				s.next = math.MaxInt64
				s.await(s.now() + int64(time.Minute))
				s.serve()
				s.counters.Unlock()
				testenv.Check(t, conn.fd == -1 && conn.state == connState, "the connection is still there: %d", conn.fd)
			})
		}
	}
}

// onPair returns a shard whose only connection is one of two sockets, and the other one.
func onPair(t *testing.T, c Config) (s *shard, other int) {
	t.Helper()
	s = testenv.Must(newShard(&Loop{conf: c}, 0, 1, 1))(t)
	t.Cleanup(s.close)
	pair := testenv.Must(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0))(t)
	t.Cleanup(func() { unix.Close(pair[1]) })
	s.conns[0].fd = int32(pair[0])
	return s, pair[1]
}

// begins sends the first request on the connection of s. generation takes what has arrived, for
// epoll with these events, and sends the next one.
func begins(t *testing.T, s *shard, events uint32) (generation func()) {
	conn := &s.conns[0]
	s.active = 1
	if s.ring == nil {
		s.sendNext(conn, 0, s.now())
		return func() { s.handle(conn, 0, events) }
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	s.useRing()
	s.sendNext(conn, 0, s.now())
	s.ring.poll()
	return func() {
		s.counters.Lock()
		s.awaitRing(math.MaxInt64, 1)
		s.serve()
		s.counters.Unlock()
		s.ring.poll()
	}
}

// A request that ends without a response is sent again. It counts as that if any of it was sent.
func TestSentAgain(t *testing.T) {
	for sent, want := range map[int]int64{0: 0, 1: 1} {
		c := config(t, bench.Step{Connections: 1, Duration: time.Minute, MaxRequests: 1})
		c.Epoll, c.Addresses = true, []netip.AddrPort{netip.MustParseAddrPort("255.255.255.255:1")} // refused at once
		c.Recorder.Begin(0)
		s, _ := onPair(t, c)
		s.next = math.MaxInt64
		begins(t, s, 0)
		conn := &s.conns[0]
		conn.sent = sent
		s.fail(conn, 0, s.now(), unix.ECONNRESET)
		testenv.Check(t, s.counters.SentAgain == want && s.counters.Sent == 1 && conn.state == connecting,
			"%d bytes sent: %d requests sent again, %d sent, doing %d", sent, s.counters.SentAgain, s.counters.Sent, conn.state)
	}
}

// A connection that ends together with its response is not used for the next request, whatever its
// method.
func TestEndTogetherWithTheResponse(t *testing.T) {
	for name, epoll := range map[string]bool{"epoll": true, "io_uring": false} {
		t.Run(name, func(t *testing.T) {
			if err := ringWorks(); err != nil && !epoll {
				t.Skip("SKIP: ", err)
			}
			post := workload.Plan{Requests: []bench.Request{{Name: "post", Path: "/city", Method: "POST"}}}
			c := configOf(t, bench.Step{Connections: 1, Duration: time.Minute, MaxRequests: 2}, post)
			// A broadcast address, to which the kernel opens no connection.
			c.Epoll, c.Addresses = epoll, []netip.AddrPort{netip.MustParseAddrPort("255.255.255.255:1")}
			c.Recorder.Begin(0)
			s, other := onPair(t, c)
			s.next = math.MaxInt64
			generation := begins(t, s, unix.EPOLLIN|unix.EPOLLRDHUP)
			in := make([]byte, 4096)
			n, err := unix.Read(other, in)
			testenv.Need(t, n > 0 && err == nil, "%v %v", n, err)
			testenv.OK(t, testenv.Err(unix.Write(other, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))))
			testenv.OK(t, unix.Shutdown(other, unix.SHUT_WR))
			generation()
			n, err = unix.Read(other, in)
			testenv.Check(t, n == 0 && err == nil, "%d bytes on the connection after its end, %v", n, err)
			doing := s.conns[0].state
			testenv.Check(t, doing == connecting && s.counters.Sent == 2, "%d sent, doing %d", s.counters.Sent, doing)
		})
	}
}
