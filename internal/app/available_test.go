package app

import (
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
)

// TestMemoryOfAnotherMachine: this machine's free memory says nothing about an engine elsewhere.
func TestMemoryOfAnotherMachine(t *testing.T) {
	known := machine.Available() > 0
	for _, c := range []struct {
		host    string
		runtime bench.Runtime
		known   bool
	}{
		{"tcp://192.0.2.7:2376", bench.RuntimeDocker, false},
		{"tcp://192.0.2.7:2376", bench.RuntimeAuto, false},
		{"tcp://192.0.2.7:2376", bench.RuntimeProcess, known},
		{"unix:///nowhere.sock", bench.RuntimeDocker, known},
	} {
		t.Setenv("DOCKER_HOST", c.host)
		testenv.Equal(t, Available(c.runtime) > 0, c.known, c.host, c.runtime)
	}
}
