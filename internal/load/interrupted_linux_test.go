package load

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// bystanders opens files and sockets over and over, as the rest of a process does, until stop is
// called. stop returns the numbers of those in which something arrived.
func bystanders(t *testing.T) (stop func() (opened int, written []string)) {
	t.Helper()
	ended, done := make(chan struct{}), make(chan struct{})
	var opened int
	var written []string
	var failed error
	type held struct {
		file int
		pair [2]int
	}
	look := func(h held) {
		var st unix.Stat_t
		if err := unix.Fstat(h.file, &st); err != nil || st.Size != 0 {
			written = append(written, fmt.Sprintf("file %d: %d bytes, %v", h.file, st.Size, err))
		}
		unix.Close(h.file)
		for _, fd := range h.pair {
			var some [64]byte
			if n, err := unix.Read(fd, some[:]); err != unix.EAGAIN { //nolint:errorlint // a bare errno
				written = append(written, fmt.Sprintf("socket %d: %d bytes (% x), %v", fd, n, some[:max(n, 0)], err))
			}
		}
		unix.Close(h.pair[0])
		unix.Close(h.pair[1])
	}
	go func() {
		defer close(done)
		var all []held
		for ; failed == nil && !closed(ended); opened++ {
			if len(all) == 20 {
				look(all[0])
				all = all[1:]
			}
			var h held
			if h.file, failed = unix.MemfdCreate("bystander", unix.MFD_CLOEXEC); failed != nil {
				break
			}
			if h.pair, failed = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); failed == nil {
				all = append(all, h)
			}
			time.Sleep(50 * time.Microsecond)
		}
		for _, h := range all {
			look(h)
		}
	}()
	return func() (int, []string) {
		close(ended)
		<-done
		testenv.OK(t, failed)
		return opened, written
	}
}

// interrupt starts steps of all kinds with each loop, and interrupts them at any time: nothing is
// written to a file or socket of other code.
func interrupt(t *testing.T, times int) {
	t.Helper()
	server := raw(t, func(conn net.Conn, _ string) bool {
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		return err == nil
	})
	refused := refusing(t)
	eachLoop(t, func(t *testing.T, e Engine) {
		e.litter, e.Grace = true, time.Millisecond
		stop := bystanders(t)
		draw := rand.New(rand.NewPCG(1, 2))
		var abroad sync.WaitGroup
		for i := range times {
			p := plan(server, 1+i%8, time.Minute)
			switch i % 5 {
			case 1:
				p.Step = bench.Step{Name: "open", Rate: 2000, MaxConnections: 8, Duration: time.Minute}
			case 2:
				p.Step.MaxRequests = 3
			case 3:
				p.Interleave = &interleaving{length: 2 * time.Millisecond}
			case 4:
				p.BaseURL = "http://" + refused // without a listener
			}
			ctx, cancel := context.WithCancel(t.Context())
			after := time.Duration(draw.Int64N(int64(3 * time.Millisecond)))
			abroad.Go(func() { time.Sleep(after); cancel() })
			_, _ = e.Run(ctx, p, func(bench.Window) {})
			cancel()
		}
		abroad.Wait()
		opened, written := stop()
		testenv.Check(t, opened >= times/10, "only %d opened", opened)
		testenv.Check(t, len(written) <= 0,
			"%d of %d written to: %q", len(written), 3*opened, written[:min(len(written), 5)])
	})
}

// What is interrupted writes nowhere; ten thousand times in the part faults.
func TestInterruptedWritesNowhere(t *testing.T) { interrupt(t, 60) }
