//go:build acceptance && timing && linux

package load

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/locbench/locbench/internal/host/limits"
	"github.com/locbench/locbench/internal/testenv"
)

// The bar: 64 MB of resident memory with 2,048 connections in total.
func TestMemoryOf2048Connections(t *testing.T) {
	if err := limits.Check(2 * 2048); err != nil {
		t.Skip(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), clientEnv+"=locbench "+benchServer(t, "")+"/10kB 2048 2")
	out, err := command.CombinedOutput()
	testenv.Need(t, err == nil, "%v: %s", err, out)
	var rate float64
	var succeeded, failed, peak, allocations int64
	if _, err := fmt.Sscanf(string(out), "rate %f succeeded %d failed %d peak %d allocations %d", &rate, &succeeded, &failed, &peak, &allocations); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	t.Logf("%d responses, %d kB at most, %d allocations", succeeded, peak, allocations)
	if allocations > 2000 { // of windows, timers and the runtime
		t.Errorf("%d allocations for %d requests", allocations, succeeded)
	}
	testenv.Check(t, succeeded >= 2048 && failed <= 0 && peak > 0 && peak <= 64<<10,
		"%d succeeded, %d failed, %d kB", succeeded, failed, peak)
}
