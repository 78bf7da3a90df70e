package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CleanLeft removes the groups whose name remove returns true for, wherever they are, and kills
// what runs in them. It never touches one that this process, or one that it descends from, is in or
// below, whichever hierarchy that is seen in. It returns the names of what it removed.
func (t Tree) CleanLeft(remove func(name string) bool) (removed []string, err error) {
	mounts, err := t.mounts()
	if err != nil {
		return nil, err
	}
	homes := t.homes()
	chosen := func(name string) bool { return !slices.Contains(homes, name) && remove(name) }
	for _, m := range mounts {
		for _, dir := range find(m.point, chosen) {
			left := Group{dirs: map[string]string{"": dir}}
			if e := left.Remove(); e != nil {
				err = errors.Join(err, e)
			} else if name := filepath.Base(dir); !slices.Contains(removed, name) {
				removed = append(removed, name)
			}
		}
	}
	return removed, err
}

// homes are the names of the groups that this process and those that it descends from are in or
// below.
func (t Tree) homes() (names []string) {
	pid := "self"
	for range maxAncestors {
		in, err := t.membership(pid)
		if err != nil {
			break
		}
		for _, path := range in {
			names = append(names, strings.Split(path, "/")...)
		}
		if pid = t.parent(pid); pid == "0" || pid == "" {
			break
		}
	}
	return names
}

// parent is the number of a process's parent, "0" where there is none to be seen.
func (t Tree) parent(pid string) string {
	data, _ := readFile(t.path("proc", pid, "status"))
	for line := range strings.Lines(string(data)) {
		if number, ok := strings.CutPrefix(line, "PPid:"); ok {
			return strings.TrimSpace(number)
		}
	}
	return ""
}

// Bounds of a search: a machine has some hundreds of groups, a process some ten ancestors.
const (
	maxGroups    = 50_000
	maxAncestors = 1000
)

// find looks for groups below dir, but for none below one that is chosen.
func find(dir string, chosen func(name string) bool) (found []string) {
	queue := []string{dir}
	for seen := 0; len(queue) > 0 && seen < maxGroups; seen++ {
		dir, queue = queue[0], queue[1:]
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if chosen(e.Name()) {
				found = append(found, path)
				continue
			}
			queue = append(queue, path)
		}
	}
	return found
}
