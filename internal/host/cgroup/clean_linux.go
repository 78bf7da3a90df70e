package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CleanLeft removes the groups for whose name remove returns true, wherever they are, and kills the
// processes in them. It never touches a group in any hierarchy that contains this process or one of
// its ancestors. It returns the names of the removed groups.
func (t Tree) CleanLeft(remove func(name string) bool) (removed []string, err error) {
	mounts, err := t.mounts()
	if err != nil {
		return nil, err
	}
	homes := t.homes()
	chosen := func(name string) bool { return !slices.Contains(homes, name) && remove(name) }
	for _, m := range mounts {
		for _, dir := range groups(m.point, chosen) {
			name := filepath.Base(dir)
			if dir == m.point || !chosen(name) {
				continue
			}
			left := Group{dirs: map[string]string{"": dir}}
			if e := left.Remove(); e != nil {
				err = errors.Join(err, e)
			} else if !slices.Contains(removed, name) {
				removed = append(removed, name)
			}
		}
	}
	return removed, err
}

// homes returns the names of the groups around this process and its ancestors.
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

// parent returns the number of a process's parent, "0" if none is visible.
func (t Tree) parent(pid string) string {
	data, _ := os.ReadFile(t.path("proc", pid, "status"))
	for line := range strings.Lines(string(data)) {
		if number, ok := strings.CutPrefix(line, "PPid:"); ok {
			return strings.TrimSpace(number)
		}
	}
	return ""
}

// Limits of a search: a machine has hundreds of groups, a process about ten ancestors.
const (
	maxGroups    = 50_000
	maxAncestors = 1000
)

// groups returns the folder top of a hierarchy and the folders below it, parents first, but not the
// folders below a chosen one.
func groups(top string, chosen func(name string) bool) (all []string) {
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		switch {
		case len(all) == maxGroups:
			return fs.SkipAll
		case err != nil || !e.IsDir():
			return nil // it may be gone by now
		}
		all = append(all, path)
		if path != top && chosen(e.Name()) {
			return fs.SkipDir
		}
		return nil
	})
	return all
}
