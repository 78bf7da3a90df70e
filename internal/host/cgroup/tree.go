// Package cgroup reads the counters of a group of processes from the kernel's files: cgroup v1, v2
// and hosts with both. It also creates groups with limits if the user may.
//
// Package launch decides which process belongs to which instance, and what to do if a limit cannot
// be enforced.
package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNone is wrapped if a machine, a process or a controller has no cgroup.
var ErrNone = errors.New("no cgroup")

// Tree is the cgroup file systems of a machine. The zero value is this machine.
type Tree struct {
	Root string // root of the file system with /proc and /sys; "" is "/". Tests use recorded ones.
}

// mount is one mounted hierarchy.
type mount struct {
	point       string   // the folder, including Tree.Root
	root        string   // the part of the hierarchy that is mounted there; "/" outside containers
	controllers []string // on v2 the names in cgroup.controllers
	v2          bool
}

func (t Tree) path(elem ...string) string {
	return filepath.Join(append([]string{t.Root + "/"}, elem...)...)
}

// Version returns 2 if cgroup v2 controls CPU and memory, 1 if v1 does, with or without v2, else 0.
func (t Tree) Version() int {
	mounts, _ := t.mounts()
	version := 0
	for _, m := range mounts {
		if m.v2 {
			version = 2
		} else if slices.Contains(m.controllers, "cpu") || slices.Contains(m.controllers, "memory") {
			return 1
		}
	}
	return version
}

func (t Tree) mounts() ([]mount, error) {
	data, err := os.ReadFile(t.path("proc/self/mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("read mounts: %w", err)
	}
	all := parseMounts(data)
	for i := range all {
		all[i].point = t.path(all[i].point)
		if all[i].v2 {
			names, _ := os.ReadFile(filepath.Join(all[i].point, "cgroup.controllers"))
			all[i].controllers = strings.Fields(string(names))
		}
	}
	return all, nil
}

// parseMounts reads lines such as "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup
// rw,memory".
func parseMounts(data []byte) (all []mount) {
	for line := range bytes.Lines(data) {
		front, back, ok := strings.Cut(string(line), " - ")
		f, b := strings.Fields(front), strings.Fields(back)
		if !ok || len(f) < 5 || len(b) < 3 {
			continue
		}
		m := mount{root: unescape(f[3]), point: unescape(f[4])}
		switch b[0] {
		case "cgroup":
			m.controllers = strings.Split(b[2], ",") // also has flags such as rw, which are not controller names
		case "cgroup2":
			m.v2 = true
		default:
			continue
		}
		all = append(all, m)
	}
	return all
}

// unescape replaces octal escapes such as \040.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	b := []byte{}
	for ; s != ""; s = s[1:] {
		c := s[0]
		if c == '\\' && len(s) > 3 {
			if n, err := strconv.ParseUint(s[1:4], 8, 8); err == nil {
				c, s = byte(n), s[3:]
			}
		}
		b = append(b, c)
	}
	return string(b)
}

// membership is the path of a process's group: by v1 controller, and for v2 under the key "".
type membership map[string]string

// parseMembership reads /proc/<pid>/cgroup with lines such as "4:cpu,cpuacct:/docker/0123" and
// "0::/user.slice".
func parseMembership(data []byte) membership {
	m := membership{}
	for line := range bytes.Lines(data) {
		parts := strings.SplitN(strings.TrimRight(string(line), "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		path := strings.TrimSuffix(parts[2], " (deleted)")
		for _, c := range strings.Split(parts[1], ",") {
			m[c] = path
		}
	}
	return m
}

func (t Tree) membership(pid string) (membership, error) {
	data, err := os.ReadFile(t.path("proc", pid, "cgroup"))
	if err != nil {
		return nil, fmt.Errorf("read cgroups of process %s: %w", pid, err)
	}
	return parseMembership(data), nil
}

// dir returns the folder of a path in m's hierarchy. A path outside the mounted part, which a
// container may see, is an error.
func (m mount) dir(path string) (string, error) {
	path = filepath.Clean("/" + path)
	root := filepath.Clean("/" + m.root)
	if root != "/" {
		rel, ok := strings.CutPrefix(path+"/", root+"/")
		if !ok {
			return "", fmt.Errorf("%w: group %s is outside the part mounted at %s", ErrNone, path, m.point)
		}
		path = "/" + rel
	}
	dir := filepath.Join(m.point, path)
	if info, err := os.Stat(dir); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s: %w", dir, fs.ErrInvalid)
	}
	return dir, nil
}

// candidates returns the folders from the top of the mounted hierarchy down to the folder of path.
func (m mount) candidates(path string) []string {
	dir, err := m.dir(path)
	if err != nil {
		return []string{m.point}
	}
	all := []string{dir}
	for len(dir) > len(m.point) {
		dir = filepath.Dir(dir)
		all = append(all, dir)
	}
	slices.Reverse(all)
	return all
}

// place is the group of a process in one hierarchy.
type place struct {
	in         mount
	controller string // "" for v2
	path       string
}

// places returns the places of a process: one per v1 controller, and the one in v2.
func (t Tree) places(pid string) (all []place, err error) {
	mounts, err := t.mounts()
	if err != nil {
		return nil, err
	}
	in, err := t.membership(pid)
	if err != nil {
		return nil, err
	}
	for _, m := range mounts {
		controllers := m.controllers
		if m.v2 {
			controllers = []string{""}
		}
		for _, c := range controllers {
			if path, ok := in[c]; ok {
				all = append(all, place{m, c, path})
			}
		}
	}
	return all, nil
}

// dirs returns the folders of a process: by v1 controller, and for v2 under the key "".
func (t Tree) dirs(pid string) (map[string]string, error) {
	places, err := t.places(pid)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	var failed []error
	for _, p := range places {
		if dirs[p.controller] != "" {
			continue
		}
		if dir, err := p.in.dir(p.path); err != nil {
			failed = append(failed, err)
		} else {
			dirs[p.controller] = dir
		}
	}
	if len(dirs) == 0 {
		return nil, errors.Join(append(failed, fmt.Errorf("%w of process %s is visible", ErrNone, pid))...)
	}
	return dirs, nil
}

// keyed reads lines of "name number", as in cpu.stat and memory.stat. It skips other lines.
func keyed(data []byte) map[string]int64 {
	m := map[string]int64{}
	for line := range bytes.Lines(data) {
		name, value, _ := strings.Cut(string(line), " ")
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n >= 0 {
			m[name] = n
		}
	}
	return m
}

// number reads a file with one number; "max" is not a number.
func number(data []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64)
	return n, err == nil && n >= 0
}
