package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/host/cgroup"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

// TestClean: containers, networks and volumes of an engine, by the locbench that made them. After a
// restart of the machine they are known only if the engine is on this machine.
func TestClean(t *testing.T) {
	elsewhere, before := self(), self()
	elsewhere.space, before.boot = "1", otherBoot
	owners := map[string]string{
		"dead": deadOwner(), "before": before.String(), "elsewhere": elsewhere.String(), "own": owner(), "unnamed": "", "other": "nightly",
	}
	reasons := map[string]string{
		"before": "from another machine of this name, or from before the last boot", "unnamed": "its owner is not a locbench",
		"own":       fmt.Sprintf("its locbench (process %d) is running", os.Getpid()),
		"elsewhere": fmt.Sprintf("its locbench (process %d, another PID namespace) is not visible here", os.Getpid()),
		"other":     "its owner is not a locbench",
	}
	for name, tt := range map[string]struct {
		network       string
		options       CleanOptions
		removed, kept string
	}{
		"of this machine": {"unix", CleanOptions{Run: "r1"}, "before dead", "elsewhere unnamed other own"},
		"far":             {"tcp", CleanOptions{Run: "r1"}, "dead", "before elsewhere unnamed other own"},
		"not its own":     {"unix", CleanOptions{Run: "r1", NotOwn: true}, "before dead", "elsewhere unnamed other"},
		"all":             {"tcp", CleanOptions{Run: "r1", All: true}, "before dead elsewhere own", "unnamed other"},
		"another run":     {"unix", CleanOptions{Run: "r2"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakedocker.New()
			for _, who := range slices.Sorted(maps.Keys(owners)) {
				labels := map[string]string{docker.LabelRun: "r1", docker.LabelOwner: owners[who]}
				f.Others = append(f.Others, fakedocker.Thing{Kind: "container", Name: "locbench-r1-" + who + "-01234567", Labels: labels},
					fakedocker.Thing{Kind: "network", Name: "locbench-r1-" + who + "-89abcdef", Labels: labels},
					fakedocker.Thing{Kind: "volume", Name: "locbench-r1-" + who + "-00000000", Labels: labels})
			}
			c, err := cleanIn(t.Context(), cgroup.Tree{Root: noHierarchies(t)}, connect(t, f, tt.network), tt.options)
			var want Cleaned
			for kind, end := range map[string]string{"container": "01234567", "network": "89abcdef", "volume": "00000000"} {
				for _, who := range strings.Fields(tt.removed) {
					text := fmt.Sprintf("%s locbench-r1-%s-%s (run r1)", kind, who, end)
					if who == "own" {
						text += " (its locbench is running)"
					}
					want.Removed = append(want.Removed, text)
				}
				for _, who := range strings.Fields(tt.kept) {
					want.Kept = append(want.Kept, fmt.Sprintf("%s locbench-r1-%s-%s (run r1): %s", kind, who, end, reasons[who]))
				}
			}
			slices.Sort(want.Removed)
			slices.Sort(want.Kept)
			if err != nil || !slices.Equal(c.Removed, want.Removed) || !slices.Equal(c.Kept, want.Kept) || len(f.Removed()) != len(want.Removed) {
				t.Errorf("%v\n%q, want\n%q", err, c, want)
			}
		})
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
	testenv.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	testenv.OK(t, os.WriteFile(path, []byte(text), 0o644))
}

func groupDir(tree cgroup.Tree, name string) string {
	return filepath.Join(tree.Root, "sys/fs/cgroup", name)
}

// TestClean_Groups: a cgroup names its run, so its processes without marks are cleaned with the
// run.
func TestClean_Groups(t *testing.T) {
	elsewhere := self()
	elsewhere.space = "1"
	of := groupName(deadOwner()+"-0123456789ab", "r1")
	names := map[string]string{
		"dead": of, "another run": groupName(deadOwner()+"-0123456789ac", "r2"), "no run": groupName(deadOwner()+"-0123456789ab", ""),
		"own": groupName(owner()+"-0123456789ac", "r1"), "elsewhere": groupName(elsewhere.String()+"-0123456789ac", "r1"),
		"other": of + ".scope", "other too": "my-" + of, "no run named": groupPrefix + deadOwner() + "-0123456789ad",
	}
	for name, tt := range map[string]struct {
		options       CleanOptions
		removed, kept []string
	}{
		"a run":       {CleanOptions{Run: "r1"}, []string{"dead"}, []string{"own", "elsewhere"}},
		"all of it":   {CleanOptions{Run: "r1", All: true}, []string{"dead", "own", "elsewhere"}, nil},
		"not its own": {CleanOptions{Run: "r1", NotOwn: true}, []string{"dead"}, []string{"elsewhere"}},
		"another":     {CleanOptions{Run: "r2", All: true}, []string{"another run"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tree := hierarchies1(t)
			for _, name := range names {
				testenv.OK(t, os.Mkdir(groupDir(tree, name), 0o755))
			}
			c, err := cleanIn(t.Context(), tree, nil, tt.options)
			for what, name := range names {
				_, absent := os.Stat(groupDir(tree, name))
				gone := slices.Contains(tt.removed, what)
				line := "cgroup " + name
				if what == "own" {
					line += " (its locbench is running)"
				}
				testenv.Check(t, gone == slices.Contains(c.Removed, line) && gone == (absent != nil),
					"%s: %v", what, absent)
				because := func(line string) bool { return strings.HasPrefix(line, "cgroup "+name+": its locbench (process ") }
				testenv.Check(t, slices.ContainsFunc(c.Kept, because) == slices.Contains(tt.kept, what),
					"%s: kept are %q", what, c.Kept)
			}
			testenv.Check(t, err == nil && len(c.Removed) == len(tt.removed) && len(c.Kept) == len(tt.kept),
				"%q, %v", c, err)
		})
	}
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
	testenv.OK(t, err)
	var child int
	fmt.Sscan(string(data), &child)
	testenv.Until(t, time.Minute, "its child has exited", func() bool { return processGone(child) })
	env := exec.Command("env")
	env.Env = []string{"A=b", envRun + "=another"}
	env.Stdout = &out
	err = h.Do(t.Context(), env)
	testenv.Check(t, err == nil && strings.Contains("\n"+out.String(), "\nA=b\n"), "%v: %s", err, out.String())
	for _, mark := range []string{envRun + "=" + runID(t), envInstance + "=" + owner() + "-"} {
		testenv.Check(t, strings.Contains("\n"+out.String(), "\n"+mark), "no %s in %s", mark, out.String())
	}
	for _, program := range []string{"/absent/program", "absent program"} {
		testenv.Fails(t, h.Do(t.Context(), exec.Command(program)), program)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	endless := exec.Command("sh", "-c", "echo up; sleep 600 & wait")
	endless.Stdout, endless.WaitDelay = cancels{func() { cancel(interrupted) }}, time.Minute
	err = h.Do(ctx, endless)
	testenv.Check(t, err == interrupted, "%v", err)
	err = h.Do(ctx, exec.Command("true"))
	testenv.Check(t, err == interrupted, "%v", err)
	left := marked(envRun + "=" + runID(t))
	testenv.Check(t, len(left) <= 0, "left: %v", left)
}

// cancels calls do when something is written to it.
type cancels struct{ do func() }

func (c cancels) Write(p []byte) (int, error) { c.do(); return len(p), nil }

// TestAncestors: the processes above this one, up to the first one of the machine.
func TestAncestors(t *testing.T) {
	above := ancestors()
	for i, pid := range above {
		below := slices.Concat([]int{os.Getpid()}, above)[i]
		testenv.Check(t, pid > 1 && parent(below) == pid, "%d is not above %d", pid, below)
	}
	first := slices.Concat([]int{os.Getpid()}, above)[len(above)]
	testenv.Check(t, parent(first) <= 1, "%d is missing in %v", parent(first), above)
}

// TestGroupNames: the name of a cgroup, which a process cannot leave, has its owner.
func TestGroupNames(t *testing.T) {
	id := newInstanceID()
	for run, want := range map[string]string{
		"20261125-0001": "20261125-0001", "": "", "a/b c_é": "a-b-c--", strings.Repeat("x", 100): strings.Repeat("x", 64),
	} {
		name := groupName(id, run)
		of, got, ok := parseGroup(name)
		testenv.Check(t, of == owner() && got == want && ok && !strings.ContainsRune(name, '/'),
			"%q: %q, %q, %v", name, of, got, ok)
	}
	of, _, ok := parseGroup(groupPrefix + id)
	testenv.Check(t, !ok, "without a run: of %q", of)
	spec := (bench.LaunchSpec{RunID: "r"})
	testenv.Check(t, newSandbox(cgroup.Tree{Root: noHierarchies(t)}, spec, nil).group == nil, "a group without cgroups")
	for limits, want := range map[bench.Limits]string{
		{}: "", {CPUSet: 1}: "", {CPUs: 0.1}: "CPU quota: ", {Memory: 1}: "memory: ", {PIDs: 1}: "processes: ",
	} {
		box := newSandbox(cgroup.Tree{Root: noHierarchies(t)}, bench.LaunchSpec{Limits: limits}, nil)
		if note := strings.Join(box.missing, "; "); !strings.HasPrefix(note, want) || (note == "") != (want == "") || !box.pinned {
			t.Errorf("%+v: %q, want %q", limits, note, want)
		}
	}
}
