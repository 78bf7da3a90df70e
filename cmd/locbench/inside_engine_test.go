//go:build acceptance && engine && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/contender/docker/dockertest"
	"github.com/locbench/locbench/internal/testenv"
)

// TestRun_InContainer runs locbench in a container, with the socket of the engine. It reaches its
// contenders at their own addresses; if it cannot, it says how to start it. Nothing is left.
func TestRun_InContainer(t *testing.T) {
	t.Parallel()
	testenv.Docker(t)
	const socket = "/var/run/docker.sock"
	if host := os.Getenv("DOCKER_HOST"); host != "" && host != "unix://"+socket {
		t.Skip("the engine is not behind " + socket)
	}
	binary := readFile(t, testenv.Locbench(t))
	image := fmt.Sprintf("locbench-test-inside:%d", os.Getpid())
	build := exec.Command("docker", "build", "-q", "-t", image, "-")
	build.Stdin = dockertest.Tar(t, map[string]string{
		"locbench": string(binary), "Dockerfile": "FROM scratch\nCOPY locbench /locbench\nWORKDIR /tmp\nENTRYPOINT [\"/locbench\"]\n",
	})
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { dockerTo(t, "", "rmi", "-f", image) })
	for name, c := range map[string]struct {
		network string
		fails   string
	}{
		"in its own network":             {"bridge", ""},
		"in the network of the host":     {"host", ""},
		"in a container with no network": {"none", "start it with --network host"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("docker", "run", "--rm", "--network", c.network, "-v", socket+":"+socket, image,
				"run", "--headless", "--runtime", "docker", "go-nethttp", "--no-checks", "--rounds", "1", "--connections", "1", "--duration", "300ms")
			out, err := cmd.CombinedOutput()
			if (err == nil) != (c.fails == "") || !strings.Contains(string(out), c.fails) {
				t.Errorf("%v, want %q:\n%s", err, c.fails, out)
			}
			if strings.Contains(string(out), "not ready") {
				t.Errorf("it waited in vain:\n%s", out)
			}
		})
	}
}
