package cgroup

import (
	"errors"
	"io/fs"
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

// homes returns the names of the groups that this process and those that it descends from are in or
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

// parent returns the number of a process's parent, "0" where there is none to be seen.
func (t Tree) parent(pid string) string {
	data, _ := os.ReadFile(t.path("proc", pid, "status"))
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

// groups returns the folder top of a hierarchy and all below it, each before what is below it, but without
// what is below one that is chosen.
func groups(top string, chosen func(name string) bool) (all []string) {
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		switch {
		case len(all) == maxGroups:
			return fs.SkipAll
		case err != nil || !e.IsDir():
			return nil // it may have gone meanwhile
		}
		all = append(all, path)
		if path != top && chosen(e.Name()) {
			return fs.SkipDir
		}
		return nil
	})
	return all
}
