package fast

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/testenv"
)

// TestWaitsEnd checks that the kernel reads 64-bit times on 32-bit machines, too. GOARCH=386 go
// test runs it there.
func TestWaitsEnd(t *testing.T) {
	s := &shard{epoll: testenv.Must(unix.EpollCreate1(unix.EPOLL_CLOEXEC))(t), events: make([]unix.EpollEvent, 1)}
	defer unix.Close(s.epoll)
	waits := map[string]func(ns int64){"epoll": func(ns int64) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		_, errno := s.poll(ns)
		testenv.Check(t, errno == 0 || errno == unix.EINTR, "epoll:  %v", errno)
	}}
	if err := ringWorks(); err != nil {
		t.Log("io_uring: ", err)
	} else {
		waits["io_uring"] = func(ns int64) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			r, err := newRing(1)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.close()
			testenv.OK(t, r.enable())
			r.wait(&s.wait, ns, 1)
		}
	}
	for name, wait := range waits {
		const want = 30 * time.Millisecond
		ended, until := make(chan struct{}), time.Now().Add(want)
		waited := 0
		go func() {
			defer close(ended)
			for ; time.Now().Before(until); waited++ { // signals of the runtime end some early
				wait(int64(time.Until(until)))
			}
		}()
		select {
		case <-ended:
			if waited > 1000 { // without waiting it would be many thousands
				t.Errorf("%s: %d waits for %s", name, waited, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: a wait of %s has not ended after 30 s", name, want)
		}
	}
}
