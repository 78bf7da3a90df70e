//go:build acceptance && cgroup2

package main

import "testing"

// hosts have one emulated CPU each, so two of them take the time of one.
var hosts = []host{
	{"root", "6.12", true, []errand{
		{name: "groups", as: "root", pkg: "internal/host/cgroup", tests: []string{"TestGroupOnThisMachine", "TestBornInV2Group", "TestRemoveTakesGroupsBelow", "TestCleanLeft", "TestProbe"}},
		{name: "processes", as: "root", pkg: "internal/contender/launch", tests: []string{"TestProcess/OOM", "TestProcess/KilledParent"}},
		{name: "next to", as: "root", pkg: "internal/host/hostusage", tests: []string{"TestHostReadings"}},
		{name: "runs", as: "root", pkg: "cmd/locbench", guest: "process,docker", tests: []string{"TestGuestReadings", "TestGuestKilled", "TestGuestOutOfMemory"}},
	}},
	{"without root", "6.12", false, []errand{
		{name: "processes", as: "user", pkg: "cmd/locbench", guest: "process", tests: []string{"TestGuestReadings", "TestGuestKilled", "TestGuestOutOfMemory"}},
		{name: "rootless engine", as: "rootless", pkg: "cmd/locbench", guest: "docker", tests: []string{"TestGuestReadings", "TestGuestKilled"}},
		{name: "outside of a rootless engine", as: "outside", pkg: "cmd/locbench", guest: "rootless", tests: []string{"TestGuestRootless"}},
	}},
	// Nothing there needs all of the controllers, as a Docker engine does.
	{"older kernel", "6.1.0", false, []errand{
		{name: "processes", as: "root", pkg: "cmd/locbench", guest: "process", tests: []string{"TestGuestReadings"}},
		{name: "clock", as: "root", pkg: "cmd/locbench", guest: "process", tests: []string{"TestGuestClockSet"}}, // last: it sets the machine's clock
	}},
}

// TestV2Host runs the static binary on real cgroup v2 hosts: virtual machines with their own
// kernel, systemd and Docker, under emulation. They run tests of this repository, compiled here;
// the results are this test's.
func TestV2Host(t *testing.T) { runOn(t, hosts, nil) }
