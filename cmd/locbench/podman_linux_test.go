//go:build acceptance && podman

package main

import "testing"

var podmanHosts = []host{
	{"rootful", "6.12", false, []errand{
		{name: "Podman", as: "podman", pkg: "cmd/locbench", guest: "docker", tests: podmanTests},
	}},
	{"rootless", "6.12", false, []errand{
		{name: "Podman", as: "podman of a user", pkg: "cmd/locbench", guest: "docker", tests: podmanTests},
	}},
}

var podmanTests = []string{"TestGuestReadings", "TestGuestKilled", "TestGuestOutOfMemory", "TestGuestPodman", "TestGuestPodmanNeed"}

// TestPodman runs the static binary with a real Podman on cgroup v2, of root and of a user, in virtual machines.
func TestPodman(t *testing.T) {
	runOn(t, podmanHosts, map[string]string{podmanImage: postgresImage(t)})
}
