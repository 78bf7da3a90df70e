package launch

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// owner names this process so that no other has the same name: machine, process number, time of its start in ticks.
func owner() string {
	host, _ := os.Hostname()
	start, _ := startTicks(os.Getpid())
	return fmt.Sprintf("%d.%d@%s", os.Getpid(), start, strings.ReplaceAll(host, "/", "_"))
}

// alive reports whether the process that an owner's name means lives. One on another machine is taken to live.
func alive(owner string) bool {
	id, host, _ := strings.Cut(owner, "@")
	if here, _ := os.Hostname(); host != "" && host != strings.ReplaceAll(here, "/", "_") {
		return true
	}
	number, ticks, _ := strings.Cut(id, ".")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return false
	}
	start, ok := startTicks(pid)
	return ok && strconv.FormatInt(start, 10) == ticks
}

// startTicks is the 22nd field of /proc/<pid>/stat.
func startTicks(pid int) (int64, bool) {
	s, err := readStat(pid)
	return s.start, err == nil && s.state != 'Z'
}
