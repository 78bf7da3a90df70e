//go:build acceptance && engine

package launch

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

// listensOn waits until inst listens, and returns where.
func listensOn(t *testing.T, inst bench.Instance) (ports []uint16) {
	t.Helper()
	for range 1000 {
		if all := inst.(interface{ Listens() []netip.AddrPort }).Listens(); len(all) > 0 {
			for _, a := range all {
				ports = append(ports, a.Port())
			}
			return ports
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("nothing is seen; it says %v", inst.Logs())
	return nil
}

// TestWhereAProcessListens: a process under a shell listens on another port than it was launched
// with, while other processes listen too.
func TestWhereAProcessListens(t *testing.T) {
	others := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer others.Close()
	port := testenv.Must(FreePort())(t)
	spec := processSpec(t, "sh", "-c", fmt.Sprintf("%s serve %d; true", dockertest.Helper(t), port))
	spec.Port = port + 1
	inst := launchProcess(t, spec)
	got := listensOn(t, inst)
	testenv.Check(t, slices.Equal(got, []uint16{uint16(port)}), "%v, want %d", got, port)
	testenv.Equal(t, inst.BaseURL(), "http://127.0.0.1:"+strconv.Itoa(port+1), "its address")
	inst.(*process).Move(port)
	testenv.Check(t, inst.Info().Address == "127.0.0.1:"+strconv.Itoa(port), "moved to %s", inst.Info().Address)
	get(t, inst)
}

// TestWhereAContainerListens: the engine's resolver, which listens in the container's network, does
// not count as the contender.
func TestWhereAContainerListens(t *testing.T) {
	t.Parallel()
	e := dockertest.Engine(t)
	if !e.SameHost() {
		t.Skip("needs an engine on this machine")
	}
	d := newDocker(t, e)
	inst, err := d.Launch(t.Context(), bench.LaunchSpec{RunID: runID(t), Name: "listens", Port: 8080, Artifact: bench.Artifact{Image: dockertest.Image(t, e), Command: []string{"serve", "9999"}}})
	testenv.OK(t, err)
	stopAtEnd(t, inst)
	got := listensOn(t, inst)
	testenv.Check(t, slices.Equal(got, []uint16{9999}), "%v, want 9999", got)
}
