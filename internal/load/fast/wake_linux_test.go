package fast

import (
	"context"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// takeOver opens files until one has the number fd, and returns a function that returns how many
// bytes have come into that one.
func takeOver(t *testing.T, fd int) (arrived func() int64) {
	t.Helper()
	for range 10_000 {
		got := testenv.Must(unix.MemfdCreate("other", unix.MFD_CLOEXEC))(t)
		t.Cleanup(func() { unix.Close(got) })
		if got == fd {
			return func() int64 {
				var st unix.Stat_t
				testenv.OK(t, unix.Fstat(fd, &st))
				return st.Size
			}
		}
	}
	t.Fatalf("no file got the number %d", fd)
	return nil
}

// A wake-up may come at any time. After the loop is closed, it does not write into what has got the
// number of the loop's eventfd.
func TestNothingIsWrittenAfterClose(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, late := range map[string]func(Config, *Loop){
		"the end of the context": func(_ Config, l *Loop) {
			woken := make(chan struct{})
			context.AfterFunc(ended, func() { l.shards[0].waker.wake(); close(woken) })
			<-woken
		},
		"the end of sending":     func(c Config, _ *Loop) { c.Recorder.Stop() },
		"the first response":     func(c Config, _ *Loop) { c.Recorder.Answered(1, 1, time.Minute) },
		"the end of the grace":   func(_ Config, l *Loop) { l.Cut() },
		"a second time of close": func(_ Config, l *Loop) { l.shards[0].waker.close(); l.Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, bench.Step{Connections: 2, Duration: time.Minute})
			c.Addresses, c.Shards = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}, 1
			l := testenv.Must(New(c))(t)
			c.Recorder.Begin(1)
			fd := l.shards[0].waker.fd
			l.Close()
			arrived := takeOver(t, fd)
			late(c, l)
			testenv.Equal(t, arrived(), 0)
			testenv.OK(t, testenv.Err(unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)))
		})
	}
}

// Wake-ups that meet close end before it does, or write nothing.
func TestWakeMeetsClose(t *testing.T) {
	for range 300 {
		var w waker
		testenv.OK(t, w.open())
		fd, began, ended := w.fd, make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			close(began)
			for range 50 {
				w.wake()
			}
		}()
		<-began
		w.close()
		file := testenv.Must(unix.MemfdCreate("other", unix.MFD_CLOEXEC))(t)
		<-ended
		var st unix.Stat_t
		testenv.OK(t, unix.Fstat(file, &st))
		unix.Close(file)
		testenv.Need(t, st.Size == 0, "%d bytes in another file (%d, the eventfd was %d)", st.Size, file, fd)
	}
}

// What the kernel has not taken of a closed connection is not sent to what gets its number next.
func TestRingForgetsAClosedConnection(t *testing.T) {
	if err := ringWorks(); err != nil {
		t.Skip("SKIP: ", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := newRing(1)
	testenv.OK(t, err)
	defer r.close()
	testenv.OK(t, r.enable())
	pairs := [2][2]int{}
	for i := range pairs {
		pairs[i], err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		testenv.OK(t, err)
		t.Cleanup(func() { unix.Close(pairs[i][0]); unix.Close(pairs[i][1]) })
	}
	request := []byte("GET / HTTP/1.1\r\n\r\n")
	for i := range pairs { // the first one is closed, the other one stays
		q := r.next()
		q.op, q.fd, q.opFlags, q.user = opSend, int32(pairs[i][0]), unix.MSG_NOSIGNAL, mark(forRequest, i, 0)
		q.addr, q.length = address(request), uint32(len(request))
	}
	r.disown(int32(pairs[0][0]))
	r.poll()
	for i, want := range []int{-1, len(request)} {
		n, err := unix.Read(pairs[i][1], make([]byte, 100))
		testenv.Check(t, n == want, "connection %d got %d bytes, %v; expected %d", i, n, err, want)
	}
	done := map[uint32]int32{}
	for r.completed() > 0 {
		c := r.take()
		done[uint32(c.user)] = c.res
	}
	testenv.Check(t, len(done) == 2 && done[0] == 0 && done[1] == int32(len(request)), "completed: %v", done)
	runtime.KeepAlive(request)
}
