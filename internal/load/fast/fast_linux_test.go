package fast

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// config is that of a loop which asks one thing in a step.
func config(s bench.Step) Config {
	return Config{
		Spec:        workload.Spec{BaseURL: "http://h", Step: s, Requests: []bench.Request{{Name: "get", Path: "/city"}}},
		Recorder:    record.New(s, []string{"get"}),
		Timeout:     time.Minute,
		Connections: s.Connections,
	}
}

// A request on an open connection costs no allocation, from the reading of the answer before to the
// sending.
func TestFastLoopDoesNotAllocate(t *testing.T) {
	for name, answer := range map[string]string{
		"length":  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("x", 100),
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"404":     "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nsorry",
	} {
		t.Run(name, func(t *testing.T) { exchangesDoNotAllocate(t, true, answer) })
		t.Run(name+" with io_uring", func(t *testing.T) {
			if err := ringWorks(); err != nil {
				t.Skip("SKIP: ", err)
			}
			exchangesDoNotAllocate(t, false, answer)
		})
	}
}

func exchangesDoNotAllocate(t *testing.T, epoll bool, answer string) {
	c := config(bench.Step{Connections: 1, Duration: time.Minute, MaxRequests: 1 << 40})
	c.Epoll = epoll
	rec := c.Recorder
	rec.Begin(0)
	s, err := newShard(&Loop{Config: c}, 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	conn := &s.conns[0]
	conn.fd = int32(pair[0])
	s.active = 1
	turn := func() { s.handle(conn, 0, unix.EPOLLIN) }
	if s.ring != nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		s.useRing()
		turn = func() {
			s.counters.Lock()
			s.awaitRing()
			s.serve()
			s.counters.Unlock()
			s.ring.poll() // sends the next request
		}
	}
	s.ask(conn, 0, s.now())
	if s.ring != nil {
		s.ring.poll()
	}
	in, out := make([]byte, 4096), []byte(answer)
	asked := 0
	exchange := func() {
		if n, err := unix.Read(pair[1], in); n <= 0 || err != nil {
			t.Fatal(n, err)
		}
		if _, err := unix.Write(pair[1], out); err != nil {
			t.Fatal(err)
		}
		turn()
		asked++
	}
	exchange() // the first of its kind has an example made
	if n := testing.AllocsPerRun(1000, exchange); n != 0 {
		t.Errorf("%g allocations a request", n)
	}
	rec.Finish()
	if load := rec.Load(); load.Succeeded+load.FailedTotal() != int64(asked) || load.Sent != int64(asked)+1 {
		t.Errorf("%d succeeded, %d failed, %d sent of %d", load.Succeeded, load.FailedTotal(), load.Sent, asked)
	}
}

// A connection that nobody uses, and which the contender closes or sends something on, is given up:
// the next request opens another one.
func TestIdleConnectionIsGivenUp(t *testing.T) {
	for name, do := range map[string]func(fd int){
		"closed":  func(fd int) { _ = unix.Shutdown(fd, unix.SHUT_WR) },
		"surplus": func(fd int) { _, _ = unix.Write(fd, []byte("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			c := config(bench.Step{Rate: 1, MaxConnections: 1, Duration: time.Minute})
			c.Connections = 1
			c.Recorder.Begin(0)
			s, err := newShard(&Loop{Config: c}, 0, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(pair[1])
			s.conns[0].fd = int32(pair[0])
			if err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, pair[0], &unix.EpollEvent{Events: s.conns[0].wants(), Fd: 0}); err != nil {
				t.Fatal(err)
			}
			do(pair[1])
			s.counters.Lock()
			s.next = math.MaxInt64
			s.await(s.now() + int64(time.Minute))
			s.serve()
			s.counters.Unlock()
			if s.conns[0].fd != -1 || s.conns[0].doing != idle {
				t.Errorf("the connection is still there: %d", s.conns[0].fd)
			}
		})
	}
}
