package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

func containersOf(run, owner string, names ...string) (all []fakedocker.Thing) {
	labels := map[string]string{docker.LabelRun: run, docker.LabelName: "t", docker.LabelOwner: owner}
	for _, n := range names {
		all = append(all, fakedocker.Thing{Kind: "container", Name: n, Labels: labels})
	}
	return all
}

// TestCleanChecksNames: a user's container from an image of a contender has its labels, but belongs
// to the user.
func TestCleanChecksNames(t *testing.T) {
	run := "20261125-0001"
	theirs := []string{
		"shop", "locbench", "locbench-shop", "locbench-20261125-0001-x", "locbench-20261125-0002-x-01234567",
		"my-locbench-20261125-0001-x-01234567", "locbench-20261125-00011-01234567", "locbench-20261125-0001-x-0123456Z",
	}
	for _, network := range []string{"unix", "tcp"} {
		s := fakedocker.New()
		s.Others = slices.Concat(
			containersOf(run, deadOwner(), "locbench-20261125-0001-x-01234567"), containersOf(run, deadOwner(), theirs...),
			[]fakedocker.Thing{
				{Kind: "network", Name: "locbench-20261125-0001-89abcdef", Labels: containersOf(run, deadOwner(), "")[0].Labels},
				{Kind: "network", Name: "their-net", Labels: containersOf(run, deadOwner(), "")[0].Labels},
			},
		)
		e := connect(t, s, network)
		running, err := e.Running(t.Context(), run)
		if err != nil || !slices.Equal(running, theirs) {
			t.Errorf("not of the run are %q, %v", running, err)
		}
		for _, o := range []CleanOptions{{Run: run}, {Run: run, All: true}} {
			if _, err := cleanIn(t.Context(), cgroup.Tree{Root: noHierarchies(t)}, e, o); err != nil {
				t.Error(err)
			}
			want := []string{"locbench-20261125-0001-x-01234567", "locbench-20261125-0001-89abcdef"}
			if !slices.Equal(s.Removed(), want) {
				t.Errorf("%s %+v: removed %q, want %q", network, o, s.Removed(), want)
			}
		}
	}
}

// TestResumeDoesNotFindItself: what this process has made is not left from before.
func TestResumeDoesNotFindItself(t *testing.T) {
	run := "20261125-0003"
	s := fakedocker.New()
	s.Others = slices.Concat(
		containersOf(run, owner(), "locbench-20261125-0003-x-01234567"),
		containersOf(run, deadOwner(), "locbench-20261125-0003-y-01234567"),
		[]fakedocker.Thing{{Kind: "network", Name: "locbench-20261125-0003-89abcdef", Labels: Labels(run, "network")}},
	)
	tree := hierarchies1(t)
	mine := groupName(newInstanceID(), run)
	makeGroup(t, tree, mine)
	c, err := cleanIn(t.Context(), tree, connect(t, s, "unix"), CleanOptions{Run: run, NotOwn: true})
	want := []string{"locbench-20261125-0003-y-01234567"}
	if err != nil || len(c.Kept) > 0 || len(c.Removed) != 1 || !slices.Equal(s.Removed(), want) {
		t.Errorf("%q, %v, removed %q", c, err, s.Removed())
	}
	if !isGroup(tree, mine) {
		t.Error("its own group is removed")
	}
}

// TestCleanAfterAReboot: what a locbench of this machine made before its last boot is cleaned; but
// the engine may be on another machine of the same name.
func TestCleanAfterAReboot(t *testing.T) {
	before := self()
	before.boot = otherBoot
	for network, removed := range map[string]int{"unix": 2, "tcp": 0} {
		left := containersOf("r1", before.String(), "locbench-r1-x-01234567")
		s := fakedocker.New()
		s.Others = append(left, fakedocker.Thing{Kind: "network", Name: "locbench-r1-01234567", Labels: left[0].Labels})
		c, err := cleanIn(t.Context(), cgroup.Tree{Root: noHierarchies(t)}, connect(t, s, network), CleanOptions{Run: "r1"})
		if err != nil || len(c.Removed) != removed || len(c.Removed)+len(c.Kept) != 2 {
			t.Errorf("%s: %q, %v", network, c, err)
		}
	}
}

// noHierarchies returns a machine without cgroups.
func noHierarchies(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "proc/self/mountinfo"), "")
	return root
}

// hierarchies1 returns a machine with one hierarchy of cgroups, made of folders.
func hierarchies1(t *testing.T) cgroup.Tree {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "proc/self/mountinfo"), "30 29 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	writeFile(t, filepath.Join(root, "proc/self/cgroup"), "0::/user.slice\n")
	writeFile(t, filepath.Join(root, "sys/fs/cgroup/user.slice/cgroup.procs"), "")
	return cgroup.Tree{Root: root}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func groupDir(tree cgroup.Tree, name string) string {
	return filepath.Join(tree.Root, "sys/fs/cgroup", name)
}

func isGroup(tree cgroup.Tree, name string) bool {
	_, err := os.Stat(groupDir(tree, name))
	return err == nil
}

// makeGroup makes a cgroup with processes in it, if any.
func makeGroup(t *testing.T, tree cgroup.Tree, name string, processes ...string) {
	t.Helper()
	if err := os.MkdirAll(groupDir(tree, name), 0o755); err != nil {
		t.Fatal(err)
	}
	if len(processes) > 0 {
		writeFile(t, filepath.Join(groupDir(tree, name), "cgroup.procs"), strings.Join(processes, "\n"))
	}
}

// TestCleanGroupsOfARun: a cgroup names its run, so its processes without marks are cleaned with
// the run.
func TestCleanGroupsOfARun(t *testing.T) {
	tree := hierarchies1(t)
	dead := deadOwner()
	const one, two, three = "-0123456789ab", "-0123456789ac", "-0123456789ad"
	elsewhere := self()
	elsewhere.space = "1"
	names := map[string]string{
		"of the run": groupName(dead+one, "r1"), "of another run": groupName(dead+two, "r2"),
		"of no run": groupName(dead+one, ""),
		"living":    groupName(owner()+two, "r1"), "elsewhere": groupName(elsewhere.String()+two, "r1"),
		"other": groupName(dead+one, "r1") + ".scope", "other too": "my-" + groupName(dead+one, "r1"),
		"without a run": groupPrefix + dead + three,
	}
	for _, name := range names {
		makeGroup(t, tree, name)
	}
	left := func(gone ...string) {
		t.Helper()
		for what, name := range names {
			if isGroup(tree, name) == slices.Contains(gone, what) {
				t.Errorf("%s: there is %v", what, !slices.Contains(gone, what))
			}
		}
	}
	c, err := cleanIn(t.Context(), tree, nil, CleanOptions{Run: "r1"})
	if err != nil || !slices.Equal(c.Removed, []string{"cgroup " + names["of the run"]}) || len(c.Kept) != 2 {
		t.Errorf("%q, %v", c, err)
	}
	for _, what := range []string{"living", "elsewhere"} {
		why := names[what] + ": its locbench"
		if !slices.ContainsFunc(c.Kept, func(k string) bool { return strings.Contains(k, why) }) {
			t.Errorf("%q does not say %s", c.Kept, why)
		}
	}
	left("of the run")
	c, err = cleanIn(t.Context(), tree, nil, CleanOptions{Run: "r2", All: true})
	if err != nil || len(c.Removed) != 1 || len(c.Kept) > 0 {
		t.Errorf("%q, %v", c, err)
	}
	left("of the run", "of another run")
}

// TestHelper: a program that locbench needs has marks like a contender. It is killed with its
// children at the end of ctx, and found if it keeps running.
func TestHelper(t *testing.T) {
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	h := Helper{Run: runID(t), Groups: cgroup.Tree{Root: noHierarchies(t)}}
	cmd := exec.Command("sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & "+
		"while ! grep -q sleep /proc/$!/cmdline; do :; done; echo $! > "+pid+"; exit 3")
	var out strings.Builder
	cmd.Stdout, cmd.WaitDelay = &out, time.Minute
	if err := h.Do(t.Context(), cmd); err == nil || err.Error() != "exit status 3" {
		t.Error(err)
	}
	data, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	var child int
	fmt.Sscan(string(data), &child)
	testenv.Until(t, time.Minute, "its child has exited", func() bool { return processGone(child) })
	env := exec.Command("env")
	env.Env = []string{"A=b", envRun + "=another"}
	env.Stdout = &out
	if err := h.Do(t.Context(), env); err != nil || !strings.Contains("\n"+out.String(), "\nA=b\n") {
		t.Errorf("%v: %s", err, out.String())
	}
	for _, mark := range []string{envRun + "=" + runID(t), envInstance + "=" + owner() + "-"} {
		if !strings.Contains("\n"+out.String(), "\n"+mark) {
			t.Errorf("no %s in %s", mark, out.String())
		}
	}
	if err := h.Do(t.Context(), exec.Command("/absent/program")); err == nil {
		t.Error("started")
	}
}

// TestGroupNames: the name of a cgroup, which a process cannot leave, has its owner.
func TestGroupNames(t *testing.T) {
	id := newInstanceID()
	for run, want := range map[string]string{
		"20261125-0001": "20261125-0001", "": "", "a/b c_é": "a-b-c--", strings.Repeat("x", 100): strings.Repeat("x", 64),
	} {
		name := groupName(id, run)
		of, got, ok := parseGroup(name)
		if of != owner() || got != want || !ok || strings.ContainsRune(name, '/') {
			t.Errorf("%q: %q, %q, %v", name, of, got, ok)
		}
	}
	if of, _, ok := parseGroup(groupPrefix + id); ok {
		t.Errorf("without a run: of %q", of)
	}
	if spec := (bench.LaunchSpec{RunID: "r"}); newSandbox(cgroup.Tree{Root: noHierarchies(t)}, spec, nil).group != nil {
		t.Error("a group without cgroups")
	}
}
