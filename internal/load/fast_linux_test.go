package load

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The bar: 64 MB of resident memory with 2,048 connections, all told.
func TestMemoryOf2048Connections(t *testing.T) {
	if err := CheckLimits(2 * 2048); err != nil {
		t.Skip(err)
	}
	if slack > 1 {
		t.Skip("the race detector needs memory of its own")
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), clientEnv+"=locbench "+benchServer(t, "")+"/10kB 2048")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var rate float64
	var succeeded, failed, peak, allocations int64
	if _, err := fmt.Sscanf(string(out), "rate %f succeeded %d failed %d peak %d allocations %d", &rate, &succeeded, &failed, &peak, &allocations); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	t.Logf("%d answers, %d kB at most, %d allocations", succeeded, peak, allocations)
	if allocations > 2000 { // of windows, timers and the runtime
		t.Errorf("%d allocations for %d requests", allocations, succeeded)
	}
	if succeeded < 2048 || failed > 0 || peak <= 0 || peak > 64<<10 {
		t.Errorf("%d succeeded, %d failed, %d kB", succeeded, failed, peak)
	}
}

// A request on an open connection costs no allocation, from the reading of the answer before to the sending.
func TestFastLoopDoesNotAllocate(t *testing.T) {
	for name, answer := range map[string]string{
		"length":  string(benchAnswer(100)),
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"404":     "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nsorry",
	} {
		t.Run(name, func(t *testing.T) { exchangesDoNotAllocate(t, Engine{Epoll: true}, answer) })
		t.Run(name+" with io_uring", func(t *testing.T) {
			if err := ringWorks(); err != nil {
				t.Skip("SKIP: ", err)
			}
			exchangesDoNotAllocate(t, Engine{}, answer)
		})
	}
}

func exchangesDoNotAllocate(t *testing.T, e Engine, answer string) {
	rec := newRecorder(nil, 1, 0)
	rec.begin(1, time.Minute)
	rec.interval.decide(0, undecided)
	l := &fastLoop{rec: rec, timeout: time.Minute}
	s, err := newShard(e, l, plan("http://h", 1, time.Second), 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	c := &s.conns[0]
	c.fd = int32(pair[0])
	s.active = 1
	turn := func() { s.handle(c, 0, unix.EPOLLIN) }
	if s.ring != nil {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		s.useRing()
		turn = func() {
			s.account.mu.Lock()
			s.awaitRing()
			s.serve()
			s.account.mu.Unlock()
			s.ring.poll() // sends the next request
		}
	}
	s.ask(c, 0, s.now())
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
	rec.accounts = append(rec.accounts, s.account)
	rec.closeWindow(time.Second, undecided)
	if load := rec.load(); load.Succeeded+load.FailedTotal() != int64(asked) || load.Sent != int64(asked)+1 {
		t.Errorf("%d succeeded, %d failed, %d sent of %d", load.Succeeded, load.FailedTotal(), load.Sent, asked)
	}
}

func TestShardsShareTheConnections(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 5} {
		t.Run(strconv.Itoa(shards), func(t *testing.T) {
			server := newCounting(t, hello)
			l := run(t, Engine{Shards: shards, Window: 50 * time.Millisecond}, plan(server.URL, 7, 200*time.Millisecond))
			if l.AllSucceeded() != server.count(200) || server.connections.Load() != 7 {
				t.Errorf("%d succeeded, the server answered %d on %d connections", l.Succeeded, server.count(200), server.connections.Load())
			}
			p := plan(server.URL, 7, time.Minute)
			p.Step.MaxRequests = 1001
			before := server.count(200)
			if l := run(t, Engine{Shards: shards}, p); l.Succeeded != 1001 || server.count(200)-before != 1001 {
				t.Errorf("%d succeeded, the server answered %d", l.Succeeded, server.count(200)-before)
			}
		})
	}
}

// What a socket does not take at once is sent when it does.
func TestFastLoopSendsLongRequests(t *testing.T) {
	server := newCounting(t, hello)
	p := plan(server.URL, 2, time.Minute)
	p.Requests[0].Method, p.Requests[0].Body = "POST", strings.Repeat("x", 8<<20)
	p.Step.MaxRequests = 6
	l := run(t, Engine{}, p)
	if l.Succeeded != 6 || server.count(200) != 6 {
		t.Errorf("%d succeeded, the server answered %d, failed %v %v", l.Succeeded, server.count(200), l.Failed, l.Examples)
	}
}
