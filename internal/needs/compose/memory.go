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

// sharedMemory is in memory in each container.
const sharedMemory = "/dev/shm"

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
	if !path.IsAbs(at) {
		return false
	}
	at = path.Clean(at)
	longest, memory := 0, false
	mount := func(target string, isMemory bool) {
		if (at == target || strings.HasPrefix(at, target+"/")) && len(target) > longest {
			longest, memory = len(target), isMemory
		}
	}
	mount(sharedMemory, true)
	for _, t := range s.Tmpfs {
		mount(t.Path(), true)
	}
	for _, v := range s.Volumes {
		mount(v.Target, false)
	}
	return memory
}

// Lost says that data in memory would be lost.
func Lost(what string) string {
	return fmt.Sprintf("its data are in memory (%s), and lost when it starts again", what)
}

// LostHint says what to write instead.
const LostHint = "write a path on its disk, or `keep: true`, with which it starts once"
