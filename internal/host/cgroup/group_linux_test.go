package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/bench/cpuset"
)

var all = bench.Limits{CPUs: 1.5, Memory: 64 << 20, PIDs: 100}

// A folder with files stands for a hierarchy: what would be written where, without rights or
// kernel.
func fakeV2(t *testing.T, controllers string) (m mount) {
	t.Helper()
	m = mount{point: t.TempDir(), root: "/", v2: true}
	if err := os.MkdirAll(filepath.Join(m.point, "user"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"cgroup.subtree_control", "user/cgroup.subtree_control"} {
		if err := os.WriteFile(filepath.Join(m.point, f), []byte(controllers), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestMissingLimitsAreTold(t *testing.T) {
	g, err := createV2(place{in: fakeV2(t, ""), path: "/user"}, "g", all, cpuset.UpTo(2))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	text := strings.Join(g.Missing(), "; ")
	if err := g.NoCPUSet(); err == nil || !strings.Contains(err.Error(), "the kernel offers no cpuset.cpus") || strings.Contains(text, "CPU set") {
		t.Errorf("no CPU set: %v; %q", err, text)
	}
	for _, want := range []string{"CPU quota: the kernel offers no cpu.max", "memory: ", "processes: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not tell %q", text, want)
		}
	}
	if _, err := (Tree{Root: t.TempDir()}).Create("g", all, nil); err == nil {
		t.Error("made a group of nothing")
	}
	for _, name := range []string{"", "..", "a/b", ".hidden"} {
		if _, err := (Tree{}).Create(name, all, nil); err == nil {
			t.Errorf("made a group called %q", name)
		}
	}
}
