//go:build acceptance && timing && linux

package load

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/host/limits"
)

// The bar: 64 MB of resident memory with 2,048 connections in total.
func TestMemoryOf2048Connections(t *testing.T) {
	if err := limits.Check(2 * 2048); err != nil {
		t.Skip(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), clientEnv+"=locbench "+benchServer(t, "")+"/10kB 2048 2")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var rate float64
	var succeeded, failed, peak, allocations int64
	if _, err := fmt.Sscanf(string(out), "rate %f succeeded %d failed %d peak %d allocations %d", &rate, &succeeded, &failed, &peak, &allocations); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	t.Logf("%d responses, %d kB at most, %d allocations", succeeded, peak, allocations)
	if allocations > 2000 { // of windows, timers and the runtime
		t.Errorf("%d allocations for %d requests", allocations, succeeded)
	}
	if succeeded < 2048 || failed > 0 || peak <= 0 || peak > 64<<10 {
		t.Errorf("%d succeeded, %d failed, %d kB", succeeded, failed, peak)
	}
}

// An endless response costs no memory in any loop, and its request ends with its timeout. Live
// memory is checked, not the garbage of this test's server.
func TestEndlessResponsesCostNoMemory(t *testing.T) {
	block := []byte("4000\r\n" + strings.Repeat("x", 16<<10) + "\r\n")
	timedLoops(t, loops(), func(t testing.TB, e Engine) error {
		url := raw(t, func(conn net.Conn, _ string) bool {
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			for err == nil {
				_, err = conn.Write(block)
			}
			return false
		})
		alive := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			debug.FreeOSMemory()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		p := plan(url, 4, 200*time.Millisecond)
		p.Timeout = 300 * time.Millisecond
		before := alive()
		began := time.Now()
		l := run(t, e, p)
		took := time.Since(began)
		grown := alive() - before
		var b bounds
		b.check(l.Succeeded == 0 && l.Failed[bench.ErrTimeout] == l.Sent && l.Sent > 0, "%d succeeded of %d, failed %v %v", l.Succeeded, l.Sent, l.Failed, l.Examples)
		b.check(took <= p.Step.Duration+p.Timeout+time.Second, "took %s", took)
		b.check(grown <= 16<<20, "%d bytes more alive", grown)
		return b.err()
	})
}
