package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
)

// period is the period of the CPU quota, the default of the kernel and Docker.
const period = 100_000 // µs

// Group is a group of processes from Create. On v1 it is a folder in each hierarchy concerned.
//
// On v2 it is a folder with an inner folder, which has the limits and the processes. In groups
// shared with others, systemd regularly switches off the controllers that none of its units needs.
// The kernel refuses that for a controller that a group below passes on. So the outer folder passes
// them on, and the limits of the inner folder stay.
type Group struct {
	dirs    map[string]string // folder by controller; v2 under the key ""
	outer   string            // v2: the outer folder
	home    map[string]string // folders of this process, to return to
	fd      *os.File          // v2: the inner folder
	missing []string          // limits that are not enforced, each with its reason; without the CPU set
	noSet   error             // why the CPU set is not enforced
}

// Create makes an empty group with limits. cpus is the CPU set, empty for all CPUs. Limits that
// cannot be enforced are in Missing; an error means that there is no group.
//
// The group is as near to the top as the user may create it, as with Docker, so results do not
// depend on the session, terminal or unit in which locbench was started.
func (t Tree) Create(name string, l bench.Limits, cpus cpuset.Set) (*Group, error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return nil, fmt.Errorf("create cgroup %q: invalid folder name", name)
	}
	places, err := t.places("self")
	if err != nil {
		return nil, err
	}
	v2 := slices.IndexFunc(places, func(p place) bool { return p.in.v2 })
	if t.Version() == 2 && v2 >= 0 {
		return createV2(places[v2], name, l, cpus)
	}
	return createV1(places, name, l, cpus)
}

func createV1(places []place, name string, l bench.Limits, cpus cpuset.Set) (*Group, error) {
	g := &Group{dirs: map[string]string{}, home: map[string]string{}}
	failed := map[string]error{} // first error by controller
	var first error
	fail := func(controller string, err error) {
		failed[controller] = fmt.Errorf("controller %s: %w", controller, err)
		first = cmp.Or(first, failed[controller])
	}
	for _, p := range places {
		c := p.controller
		if !slices.Contains([]string{"cpu", "cpuacct", "cpuset", "memory", "pids", "blkio"}, c) || g.dirs[c] != "" ||
			c == "cpuset" && len(cpus) == 0 {
			continue
		}
		home, err := p.in.dir(p.path)
		if err != nil {
			fail(c, err)
			continue
		}
		for _, parent := range p.in.candidates(p.path) {
			dir := filepath.Join(parent, name)
			made := slices.Collect(maps.Values(g.dirs))
			if err = os.Mkdir(dir, 0o755); err == nil || errors.Is(err, os.ErrExist) && slices.Contains(made, dir) {
				g.dirs[c], g.home[c] = dir, home // cpu and cpuacct may share a hierarchy
				break
			}
		}
		if g.dirs[c] == "" {
			fail(c, err)
		}
	}
	if len(g.dirs) == 0 {
		return nil, fmt.Errorf("create cgroup: %w", cmp.Or(first, ErrNone)) // the others have the same reason
	}
	g.limitV1(l, cpus, Swaps(), failed)
	return g, nil
}

// limitV1 sets the limits in the folders of the group. failed has the reason for a missing folder.
func (g *Group) limitV1(l bench.Limits, cpus cpuset.Set, swaps bool, failed map[string]error) {
	why := func(controller string) error {
		if g.dirs[controller] != "" {
			return nil
		}
		return cmp.Or(failed[controller], fmt.Errorf("controller %s: %w", controller, ErrNone))
	}
	memory, pids := strconv.FormatInt(l.Memory, 10), strconv.FormatInt(l.PIDs, 10)
	g.limit("CPU quota", l.CPUs > 0, why("cpu"), "cpu",
		"cpu.cfs_period_us", strconv.Itoa(period), "cpu.cfs_quota_us", quota(l.CPUs))
	g.noSet = set(g.dirs["cpuset"], len(cpus) > 0, why("cpuset"), "cpuset.mems", "", "cpuset.cpus", cpus.String())
	g.limit("memory", l.Memory > 0, why("memory"), "memory", "memory.limit_in_bytes", memory)
	swaps = swaps && l.Memory > 0 && g.dirs["memory"] != ""
	g.limit("no swap", swaps, nil, "memory", "memory.memsw.limit_in_bytes", memory)
	g.limit("processes", l.PIDs > 0, why("pids"), "pids", "pids.max", pids)
	if g.dirs["cpuset"] != "" && g.noSet != nil {
		os.Remove(g.dirs["cpuset"]) // a group without CPUs accepts no process
		delete(g.dirs, "cpuset")
	}
}

func createV2(at place, name string, l bench.Limits, cpus cpuset.Set) (*Group, error) {
	want := []string{"memory", "io"} // for their counters, with or without a limit
	for c, needed := range map[string]bool{"cpu": l.CPUs > 0, "cpuset": len(cpus) > 0, "pids": l.PIDs > 0} {
		if needed {
			want = append(want, c)
		}
	}
	var best string
	bestHas := -1
	var failed error
	for _, parent := range at.in.candidates(at.path) {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			failed = err
			continue
		}
		for _, c := range want {
			// Usually on already. It stays on, since others may rely on it by now.
			_ = write(filepath.Join(parent, "cgroup.subtree_control"), "+"+c)
		}
		has := 0
		data, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		for _, c := range strings.Fields(string(data)) {
			if slices.Contains(want, c) {
				has++
			}
		}
		if has <= bestHas {
			os.Remove(dir)
			continue
		}
		if best != "" {
			os.Remove(best)
		}
		best, bestHas = dir, has
		if has == len(want) {
			break
		}
	}
	if best == "" {
		return nil, fmt.Errorf("create cgroup: %w", failed)
	}
	g := &Group{outer: best, dirs: map[string]string{"": filepath.Join(best, inner)}}
	if err := os.Mkdir(g.dirs[""], 0o755); err != nil {
		os.Remove(best)
		return nil, fmt.Errorf("create cgroup %s: %w", name, err)
	}
	for _, c := range want {
		_ = write(filepath.Join(best, "cgroup.subtree_control"), "+"+c) // if it fails, the limit's files are missing
	}
	g.limitV2(l, cpus, Swaps())
	var err error
	if g.fd, err = os.Open(g.dirs[""]); err != nil {
		return nil, errors.Join(fmt.Errorf("create cgroup %s: %w", name, err), g.Remove())
	}
	return g, nil
}

// limitV2 sets the limits in the inner folder of the group.
func (g *Group) limitV2(l bench.Limits, cpus cpuset.Set, swaps bool) {
	g.limit("CPU quota", l.CPUs > 0, nil, "", "cpu.max", quota(l.CPUs)+" "+strconv.Itoa(period))
	g.noSet = set(g.dirs[""], len(cpus) > 0, nil, "cpuset.cpus", cpus.String())
	g.limit("memory", l.Memory > 0, nil, "", "memory.max", strconv.FormatInt(l.Memory, 10))
	g.limit("no swap", l.Memory > 0 && swaps, nil, "", "memory.swap.max", "0")
	g.limit("processes", l.PIDs > 0, nil, "", "pids.max", strconv.FormatInt(l.PIDs, 10))
}

const inner = "contender" // the folder with the processes, on v2

func quota(cpus float64) string { return strconv.Itoa(int(math.Round(cpus * period))) }

// limit sets one limit, if it is requested, and keeps the reason if it cannot be enforced. pairs
// are files of the controller with their values. For an empty value the parent's value is copied,
// since a new group of cpuset has none.
func (g *Group) limit(name string, requested bool, why error, controller string, pairs ...string) {
	if err := set(g.dirs[controller], requested, why, pairs...); err != nil {
		g.missing = append(g.missing, name+": "+err.Error())
	}
}

// set writes pairs of files in dir and values, if requested. why is the reason if it cannot.
func set(dir string, requested bool, why error, pairs ...string) error {
	if !requested {
		return nil
	}
	if why != nil {
		return why
	}
	var failed []error
	for pair := range slices.Chunk(pairs, 2) {
		file, value := pair[0], pair[1]
		var err error
		if value == "" {
			var data []byte
			data, err = os.ReadFile(filepath.Join(filepath.Dir(dir), file))
			value = strings.TrimSpace(string(data))
		}
		if err == nil {
			err = write(filepath.Join(dir, file), value)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// write writes to an existing file in one call, as the kernel requires.
func write(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the kernel has no %s", filepath.Base(path))
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// Missing names the limits, except the CPU set, that are not enforced, each with its reason.
func (g *Group) Missing() []string { return g.missing }

// NoCPUSet returns why the requested CPU set is not enforced, or nil.
func (g *Group) NoCPUSet() error { return g.noSet }

// FD returns the folder of a v2 group, for SysProcAttr.CgroupFD; ok is false on v1.
func (g *Group) FD() (fd int, ok bool) {
	if g.fd == nil {
		return 0, false
	}
	return int(g.fd.Fd()), true
}

// Enter moves only the calling thread into a v1 group; leave moves it back to the group of the
// process. Processes that the thread starts in between are in the group. The caller has locked the
// goroutine to its thread. On v2 Enter does nothing: a thread cannot leave its process there, and
// the kernel starts children directly in a group (FD).
func (g *Group) Enter() (leave func() error, err error) {
	leave = func() (err error) {
		for c := range g.home {
			err = errors.Join(err, write(filepath.Join(g.home[c], "tasks"), "0")) // 0: the thread that writes
		}
		return err
	}
	for c := range g.home {
		if dir := g.dirs[c]; dir != "" {
			if err := write(filepath.Join(dir, "tasks"), "0"); err != nil {
				return nil, errors.Join(fmt.Errorf("enter cgroup: %w", err), leave())
			}
		}
	}
	return leave, nil
}

// Reader opens the counters of the group.
func (g *Group) Reader() (*Reader, error) { return open(g.dirs) }

// PIDs returns the processes that are now in the group and the groups below it.
func (g *Group) PIDs() (all []int) {
	for _, dir := range g.folders() {
		data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for _, f := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(f); err == nil && pid > 1 && pid != os.Getpid() && !slices.Contains(all, pid) {
				all = append(all, pid)
			}
		}
	}
	return all
}

// folders returns the folders of the group and those below them, parents last.
func (g *Group) folders() (all []string) {
	tops := slices.Collect(maps.Values(g.dirs))
	if g.outer != "" {
		tops = []string{g.outer}
	}
	for _, top := range tops {
		all = append(all, groups(top, func(string) bool { return false })...)
	}
	slices.Reverse(all)
	return all
}

// Remove kills the processes in the group and below it, and removes these groups.
func (g *Group) Remove() error {
	if g.fd != nil {
		g.fd.Close()
		g.fd = nil
	}
	var err error
	for try := range 100 {
		folders := g.folders()
		for _, dir := range folders {
			_ = write(filepath.Join(dir, "cgroup.kill"), "1") // v2 since Linux 5.14
		}
		for _, pid := range g.PIDs() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		err = nil
		for _, dir := range folders {
			if e := os.Remove(dir); e != nil && !errors.Is(e, os.ErrNotExist) {
				err = e
			}
		}
		if err == nil {
			return nil
		}
		time.Sleep(min(time.Duration(try+1)*time.Millisecond, 50*time.Millisecond)) // the kernel needs time to reap
	}
	return fmt.Errorf("remove cgroup: %w", err)
}

// Probe creates a group with all limits, removes it, and returns its Missing and NoCPUSet.
func (t Tree) Probe(name string) (missing []string, noSet, err error) {
	cpus := cpuset.Allowed().First(1)
	g, err := t.Create(name, bench.Limits{CPUs: 0.5, Memory: 64 << 20, PIDs: 100}, cpus)
	if err != nil {
		return nil, nil, err
	}
	return g.Missing(), g.NoCPUSet(), g.Remove()
}
