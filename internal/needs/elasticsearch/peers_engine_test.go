//go:build acceptance && engine

package elasticsearch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

// TestOnlyTheRunsNetwork: what listens at the gateway of the run's network serves containers in it.
// Containers of another network, and neighbors with a route to that address, reach it as well, and
// get nothing.
func TestOnlyTheRunsNetwork(t *testing.T) {
	dock := dockertest.Engine(t)
	image, helper := dockertest.Image(t, dock), dockertest.Helper(t)
	run := fmt.Sprintf("store-peers-%d", os.Getpid())
	t.Cleanup(func() {
		testenv.OK(t, testenv.Err(dock.Clean(context.Background(), run, nil)))
	})
	var groups [2]*docker.Group
	for i := range groups {
		var err error
		groups[i], err = dock.NewGroup(t.Context(), run, "", false)
		testenv.OK(t, err)
	}
	own := groups[0].Network
	if !own.Local {
		t.Skip("the engine's network is not this machine's")
	}
	server := elastic(t, "7.10.2", "")
	for what, n := range map[string]*Need{"embedded": inProcess(spec{}), "relay": external(server.URL)} {
		t.Run(what, func(t *testing.T) {
			url := opened(t, n, at(own.Gateway, own.Subnets...)).Address().URL
			testenv.Need(t, strings.Contains(url, own.Gateway), "%s: %s", what, url)
			ask := func(group *docker.Group) string {
				c, _, _, err := group.Run(t.Context(), docker.ContainerSpec{Name: "peer", Image: image, Command: []string{"get", url}})
				testenv.OK(t, err)
				defer c.Stop(context.Background(), 0)
				select {
				case <-c.Exited():
				case <-time.After(20 * time.Second):
				}
				var said []string
				for _, l := range c.Logs() {
					said = append(said, l.Text)
				}
				return strings.Join(said, "\n")
			}
			testenv.Equal(t, ask(groups[0]), "status 200", what)
			said := ask(groups[1])
			testenv.Check(t, wasReset(said), "%s: a container of another network: %s", what, said)
			said = fromNeighbor(t, helper, "get", url)
			testenv.Check(t, wasReset(said), "%s: a neighbor: %s", what, said)
		})
	}
}

// wasReset reports whether a client has seen its connection reset: in its read, in its write, or in
// the write or read after the one that saw it.
func wasReset(said string) bool {
	return strings.Contains(said, "connection reset") || strings.Contains(said, "broken pipe") || strings.HasSuffix(said, ": EOF")
}

// fromNeighbor runs a command in a network namespace that has a route to every address of this
// machine.
func fromNeighbor(t *testing.T, argv ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make a network namespace")
	}
	number := os.Getpid() % 250
	name, here := fmt.Sprintf("lbpeer%d", number), fmt.Sprintf("10.253.%d.1", number)
	defer func() {
		_ = exec.Command("ip", "netns", "del", name).Run()
		_ = exec.Command("ip", "link", "del", name+"a").Run()
	}()
	for _, args := range []string{
		"netns add " + name, "link add " + name + "a type veth peer name " + name + "b", "link set " + name + "b netns " + name,
		"addr add " + here + "/24 dev " + name + "a", "link set " + name + "a up",
		fmt.Sprintf("-n %s addr add 10.253.%d.2/24 dev %sb", name, number, name), "-n " + name + " link set " + name + "b up", "-n " + name + " route add default via " + here,
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("no network namespace can be made here: ip %s: %v: %s", args, err, out)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "nsenter", append([]string{"--net=/run/netns/" + name}, argv...)...).CombinedOutput()
	return strings.TrimSpace(string(out)) // without the end of the line, as a log has it
}
