package launch

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"locbench/internal/host/cgroup"
)

// identity names a process so that no other has the same name, and others can find out whether it is
// alive.
type identity struct {
	pid   int
	start string // when it was started, as its system counts that; "0": not known
	space string // inode of its PID namespace; "0": its system has none
	boot  string // since when its machine runs; "0": its system does not say
	host  string
}

// String returns what Labels, the environment of processes and the names of groups hold.
func (i identity) String() string {
	return strconv.Itoa(i.pid) + "." + i.start + "." + i.space + "." + i.boot + "@" + i.host
}

var ownerForm = regexp.MustCompile(
	`^([1-9][0-9]{0,9})\.([0-9]{1,20})\.([0-9]{1,20})\.([0-9a-f]{1,64})@([^/\x00-\x1f\x7f]{0,255})$`)

// parseOwner reads what String has written; ok is false for everything else.
func parseOwner(text string) (i identity, ok bool) {
	m := ownerForm.FindStringSubmatch(text)
	if m == nil {
		return i, false
	}
	pid, err := strconv.Atoi(m[1])
	return identity{pid: pid, start: m[2], space: m[3], boot: m[4], host: m[5]}, err == nil
}

// self is this process.
var self = sync.OnceValue(func() identity {
	host, _ := os.Hostname()
	i := identity{pid: os.Getpid(), start: "0", host: strings.Map(plainHost, host)}
	i.space, i.boot = namespaceAndBoot()
	if start, there := present(i.pid); there && start != "" {
		i.start = start
	}
	return i
})

func plainHost(r rune) rune {
	if r == '/' || r < ' ' || r == 0x7f {
		return '_'
	}
	return r
}

// owner returns the name of this process.
func owner() string { return self().String() }

// liveness is what is known of a process by its name.
type liveness int

const (
	unknown liveness = iota // whether it lives is not known here
	alive
	dead
)

// stateOf judges the process that an owner's name means, and says why it is not dead. near is true for
// the owner of what is on this very machine, as processes are.
func stateOf(owner string, near bool) (liveness, string) {
	i, ok := parseOwner(owner)
	if !ok {
		return unknown, "its owner is not named as locbench names itself"
	}
	return judge(i, self(), near, present)
}

// judge returns stateOf, seen from here. present reports whether a process with that number is there, and
// when it was started ("": that is not known).
func judge(i, here identity, near bool, present func(pid int) (start string, there bool)) (liveness, string) {
	switch {
	case i.host != here.host && (i.boot != here.boot || i.boot == "0"):
		return unknown, "from another machine, " + i.host
	case i.boot != here.boot && near && sameSystem(i, here):
		return dead, "" // it was on this machine before that was started again
	case i.boot != here.boot:
		return unknown, "from another machine of this name, or from before the last boot"
	case i.space != here.space:
		return unknown, fmt.Sprintf("its locbench (process %d, another PID namespace) is not visible here", i.pid)
	}
	if start, there := present(i.pid); there && (start == "" || i.start == "0" || start == i.start) {
		return alive, fmt.Sprintf("its locbench (process %d) is running", i.pid)
	}
	return dead, ""
}

// sameSystem reports whether both names are of systems that name each of their boots, in the same way:
// the Linux next to a Windows has its name and is another machine.
func sameSystem(a, b identity) bool {
	return a.boot != "0" && b.boot != "0" && (a.space == "0") == (b.space == "0")
}

// newInstanceID makes the ID of an instance: <owner>-<12 hex digits>.
func newInstanceID() string {
	var random [6]byte
	rand.Read(random[:]) // never fails
	return owner() + "-" + hex.EncodeToString(random[:])
}

// groupPrefix begins the name of every cgroup that is made here; the ID of an instance follows, "=",
// and the ID of the run.
const groupPrefix = "locbench-"

// groupName names the cgroup of an instance of a run ("": of none).
func groupName(id, run string) string { return groupPrefix + id + "=" + groupRun(run) }

// ProbeGroups returns which limits this user may not set on processes, and why no CPU set.
func ProbeGroups() (missing []string, noSet, err error) {
	return cgroup.Tree{}.Probe(groupName(newInstanceID(), ""))
}

// groupRun returns a run in the name of a cgroup.
func groupRun(run string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, run[:min(len(run), 64)])
}

// parseGroup reads the name of a cgroup; ok is false for one that groupName has not made.
func parseGroup(name string) (owner, run string, ok bool) {
	rest, ours := strings.CutPrefix(name, groupPrefix)
	i := strings.LastIndexByte(rest, '=')
	if !ours || i < 0 || rest[i+1:] != groupRun(rest[i+1:]) {
		return "", "", false
	}
	owner, ok = instanceOwner(rest[:i])
	return owner, rest[i+1:], ok
}

var instanceForm = regexp.MustCompile(`^(.+)-[0-9a-f]{12}$`)

// instanceOwner returns the owner in the ID of an instance; ok is false for everything else.
func instanceOwner(id string) (owner string, ok bool) {
	m := instanceForm.FindStringSubmatch(id)
	if m == nil {
		return "", false
	}
	_, ok = parseOwner(m[1])
	return m[1], ok
}
