package platform

import (
	"runtime"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestNoProcesses: where contenders cannot be processes, the error says what to do.
func TestNoProcesses(t *testing.T) {
	testenv.OK(t, NoProcesses("linux"))
	for _, system := range []string{"darwin", "windows", "freebsd"} {
		testenv.Fails(t, NoProcesses(system), "contenders are processes on Linux only: use --runtime docker, or start the service yourself and use --target ")
	}
	_, err := Open(t.Context(), bench.RuntimeProcess, Options{})
	testenv.Equal(t, err == nil, NoProcesses(runtime.GOOS) == nil)
}
