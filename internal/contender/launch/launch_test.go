package launch

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func runID(t testing.TB) string {
	return fmt.Sprintf("test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
}

func waitLog(t *testing.T, inst bench.Instance, text string) string {
	t.Helper()
	line := ""
	testenv.Until(t, 30*time.Second, text+" is in the log", func() bool {
		for _, l := range inst.Logs() {
			if strings.Contains(l.Text, text) {
				line = l.Text
			}
		}
		return line != ""
	})
	return line
}

func ended(t *testing.T, inst bench.Instance) bench.Exit {
	t.Helper()
	select {
	case <-inst.Exited():
		return *inst.Exit()
	case <-time.After(time.Minute):
		t.Fatal("does not end")
		panic("unreachable")
	}
}

// stopAtEnd stops the instance when the test ends.
func stopAtEnd(t *testing.T, inst bench.Instance) {
	t.Cleanup(func() {
		testenv.OK(t, testenv.Err(inst.Stop(context.Background(), 0)))
		testenv.Check(t, testenv.Err(inst.Usage(context.Background())) != nil, "counters can be read after Stop")
	})
}

func TestPeakKeepsTheLargestSample(t *testing.T) {
	var p peak
	for _, step := range []struct{ in, want int64 }{{5, 5}, {3, 5}, {9, 9}, {1, 9}} {
		u := bench.Usage{Memory: &bench.Memory{Peak: step.in, PeakIsSample: true}}
		if p.keep(&u); u.Memory.Peak != step.want {
			t.Errorf("after %d: %d, want %d", step.in, u.Memory.Peak, step.want)
		}
	}
	real := bench.Usage{Memory: &bench.Memory{Peak: 1}}
	if p.keep(&real); real.Memory.Peak != 1 {
		t.Error("a true peak was changed")
	}
}

func TestTarget(t *testing.T) {
	for _, url := range []string{"", "localhost:8080", "ftp://x", "http://", "http://%"} {
		_, err := (Target{}).Launch(t.Context(), bench.LaunchSpec{URL: url})
		testenv.Check(t, err != nil, "%q accepted", url)
	}
	inst, err := Target{}.Launch(t.Context(), bench.LaunchSpec{URL: "http://127.0.0.1:8080/base/"})
	if err != nil || inst.BaseURL() != "http://127.0.0.1:8080/base" || inst.Info().Address != "127.0.0.1:8080" || inst.Info().LimitsEnforced {
		t.Fatalf("%+v, %v", inst, err)
	}
	testenv.OK(t, testenv.Err((Target{}).Launch(t.Context(), bench.LaunchSpec{URL: "https://host"})))
	testenv.Check(t, testenv.Err(inst.Usage(t.Context())) != nil, "counters of a target")
	_, err = inst.Stop(t.Context(), 0)
	testenv.Check(t, err == nil && inst.Exit() == nil, "%v", err)
}

func TestFreePort(t *testing.T) {
	port, err := FreePort()
	testenv.Need(t, err == nil && port > 0 && port <= 65535, "%v %v", port, err)
}

// TestFree checks a port in use. TestFreePort checks a free one, which another process may take at
// any time.
func TestFree(t *testing.T) {
	l := testenv.Must(net.Listen("tcp", "0.0.0.0:0"))(t)
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	testenv.Fails(t, Free(port), fmt.Sprintf("port %d is in use", port))
	if err := Free(0); err != nil { // any free port
		t.Error(err)
	}
}
