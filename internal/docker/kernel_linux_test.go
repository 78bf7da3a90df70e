package docker

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/fakedocker"
)

func TestIsKill(t *testing.T) {
	const id = fakedocker.ID
	text := "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=" + id + ",mems_allowed=0,oom_memcg=/docker/" + id + ",task_memcg=/docker/" + id + ",task=helper,pid=4711,uid=0\n"
	for name, tt := range map[string]struct {
		record, id string
		want       bool
	}{
		"cgroup v1":           {"6,1722,2433101882,-;" + text, id, true},
		"cgroup v2":           {"6,88,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/system.slice/docker-" + id + ".scope,task_memcg=/system.slice/docker-" + id + ".scope,task=java,pid=1,uid=0\n", id, true},
		"the machine's":       {"6,88,1,c;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task_memcg=/docker/" + id + ",task=java,pid=1,uid=0\n SUBSYSTEM=x\n", id, true},
		"another container's": {"6,1722,2433101882,-;" + text, "aa" + id[2:], false},
		"another process's":   {"6,1,1,-;oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/user.slice,task=java,pid=1,uid=0\n", id, false},
		"a program says so":   {"14,1722,2433101882,-;" + text, id, false},
		"about its network":   {"6,12,1,-;docker0: port 1 of " + id + " entered blocking state\n", id, false},
		"mentioned":           {"6,12,1,-;x oom-kill: " + id + "\n", id, false},
		"least priority":      {"7,1,1,-;" + text, id, true},
		"a program's":         {"8,1,1,-;" + text, id, false},
		"a short ID":          {"6,1,1,-;" + text, id[:12], true},
		"too short an ID":     {"6,1,1,-;" + text, id[:11], false},
		"no ID":               {"6,1722,2433101882,-;" + text, "", false},
		"no head":             {text, id, false},
		"nothing":             {"", id, false},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.Equal(t, isKill([]byte(tt.record), tt.id), tt.want, tt.record)
		})
	}
}

// TestFindKill: errors of single records do not end the search.
func TestFindKill(t *testing.T) {
	type read struct {
		text string
		err  error
	}
	const id = fakedocker.ID
	other, kill := read{"6,1,1,-;eth0 is up\n", nil}, read{"6,1,1,-;oom-kill:task_memcg=/docker/" + id + "\n", nil}
	last := read{"", syscall.EAGAIN}
	log, err := os.Open("/dev/kmsg")
	log.Close()
	if killed, readable := kernelKilled(id); killed || readable != (err == nil) {
		t.Errorf("this kernel's log: killed %v, readable %v, %v", killed, readable, err)
	}
	for name, tt := range map[string]struct {
		reads            []read
		killed, readable bool
	}{
		"killed":      {[]read{other, kill}, true, true},
		"overwritten": {[]read{{"", syscall.EPIPE}, {"", syscall.EINTR}, kill}, true, true},
		"not killed":  {[]read{other, last, kill}, false, true},
		"not allowed": {[]read{other, {"", syscall.EPERM}, kill}, false, false},
		"empty":       {[]read{{"", nil}, kill}, false, false},
		"endless":     {slices.Repeat([]read{other}, 1<<17), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			next := 0
			killed, readable := findKill(id, func(record []byte) (int, error) {
				r := tt.reads[next]
				next++
				return copy(record, r.text), r.err
			})
			testenv.Check(t, killed == tt.killed && readable == tt.readable, "killed %v, readable %v", killed, readable)
		})
	}
}

// The engine that the first process has started is found by its name, if there is only one.
func TestChildOfFirst(t *testing.T) {
	for name, c := range map[string]struct {
		stats map[string]string
		want  int
	}{
		"one":               {map[string]string{"7": "7 (dockerd) S 1 7", "8": "8 (dockerd) S 7 8", "9": "9 (sshd) S 1 9", "sys": "10 (dockerd) S 1"}, 7},
		"two":               {map[string]string{"7": "7 (dockerd) S 1 7", "8": "8 (dockerd) S 1 8"}, 0},
		"none":              {map[string]string{"9": "9 (dockerd-x) S 1 9"}, 0},
		"a hostile process": {map[string]string{"9": "9 (dockerd) "}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for pid, stat := range c.stats {
				writeFile(t, stat, dir, pid, "stat")
			}
			testenv.Equal(t, childOfFirst(dir, "dockerd"), c.want)
		})
	}
}
