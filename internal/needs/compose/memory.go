package compose

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// passing are folders whose files do not outlast a start.
var passing = []string{"/tmp/", "/run/", "/var/run/", "/var/tmp/", "/dev/", "/proc/", "/sys/"}

// Passes reports whether a path is in a folder whose files do not outlast a start.
func Passes(file string) bool {
	return slices.ContainsFunc(passing, func(folder string) bool { return strings.HasPrefix(file+"/", folder) })
}

// inMemory are folders that are in memory in each container.
var inMemory = []string{"/dev", "/proc", "/sys"}

// dataPath matches the names of variables and options that say where a service has its data, and
// not its sockets, logs or temporary files.
var dataPath = regexp.MustCompile(`(?i)^(?:PGDATA|.*DATA_?(?:DIR|DIRECTORY|PATH)|.*DB_?PATH|--?data[-_]?dir(?:ectory)?|--?db-?path|-D|--dir|data_directory|path\.data)$`)

// InMemory returns what says that the data of a service are in memory, such as "PGDATA=/dev/shm/db",
// and lost when it starts again; "" if nothing does. env is its environment.
func (s Service) InMemory(env map[string]string) (what string) {
	for _, name := range sorted(env) {
		if dataPath.MatchString(name) && s.isMemory(env[name]) {
			return name + "=" + env[name]
		}
	}
	argv := append(append([]string{}, s.Entrypoint...), s.Command...)
	for i, word := range argv {
		name, value, assigned := strings.Cut(word, "=")
		switch {
		case assigned && dataPath.MatchString(name) && s.isMemory(value):
			return word
		case !assigned && i+1 < len(argv) && dataPath.MatchString(word) && s.isMemory(argv[i+1]):
			return word + " " + argv[i+1]
		}
	}
	return ""
}

// isMemory reports whether a path of the container is in memory: the mount that has it, which is the
// longest, is a tmpfs.
func (s Service) isMemory(at string) bool {
	_, memory, _ := s.mountOf(at)
	return memory
}

// mountOf returns the mount that has a path of the container, the longest; "" if none has. It is in
// memory, or a copy of a folder, given.
func (s Service) mountOf(at string) (longest string, memory, given bool) {
	at = path.Clean(at)
	mount := func(target string, isMemory, isGiven bool) {
		if (at == target || strings.HasPrefix(at, target+"/")) && len(target) > len(longest) {
			longest, memory, given = target, isMemory, isGiven
		}
	}
	for _, folder := range inMemory {
		mount(folder, true, false)
	}
	for _, t := range s.Tmpfs {
		mount(t.Path(), true, false)
	}
	for _, v := range s.Volumes {
		mount(v.Target, false, v.Source != "")
	}
	return longest, memory, given
}

// Lost says that data in memory would be lost.
func Lost(what string) string {
	return fmt.Sprintf("its data are in memory (%s), and lost when it starts again", what)
}

// LostHint says what to write instead.
const LostHint = "write a path on its disk, or `keep: true`, with which it starts once"
