package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
)

var all = bench.Limits{CPUs: 1.5, Memory: 64 << 20, PIDs: 100}

// fakeV2 uses a folder with files as a hierarchy: it shows what is written where, without rights or
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

func TestMissingLimitsAreReported(t *testing.T) {
	g, err := createV2(place{in: fakeV2(t, ""), path: "/user"}, "g", all, cpuset.UpTo(2))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	text := strings.Join(g.Missing(), "; ")
	if err := g.NoCPUSet(); err == nil || !strings.Contains(err.Error(), "the kernel has no cpuset.cpus") || strings.Contains(text, "CPU set") {
		t.Errorf("no CPU set: %v; %q", err, text)
	}
	for _, want := range []string{"CPU quota: the kernel has no cpu.max", "memory: ", "processes: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not contain %q", text, want)
		}
	}
	if _, err := (Tree{Root: t.TempDir()}).Create("g", all, nil); err == nil {
		t.Error("created a group without a hierarchy")
	}
	for _, name := range []string{"", "..", "a/b", ".hidden"} {
		if _, err := (Tree{}).Create(name, all, nil); err == nil {
			t.Errorf("created a group called %q", name)
		}
	}
}
