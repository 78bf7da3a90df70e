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

	"github.com/locbench/locbench/internal/host/cgroup"
)

// identity names a process uniquely, with what others need to find out whether it is alive.
type identity struct {
	pid   int
	start string // start time in the units of its system; "0": unknown
	space string // inode of the PID namespace; "0": the system has none
	boot  string // ID of the machine's boot; "0": the system has none
	host  string
}

// String returns the form in Labels, in the environment of processes and in the names of cgroups.
func (i identity) String() string {
	return strconv.Itoa(i.pid) + "." + i.start + "." + i.space + "." + i.boot + "@" + i.host
}

var ownerForm = regexp.MustCompile(
	`^([1-9][0-9]{0,9})\.([0-9]{1,20})\.([0-9]{1,20})\.([0-9a-f]{1,64})@([^/\x00-\x1f\x7f]{0,255})$`)

// parseOwner reads the form that String writes; ok is false for any other text.
func parseOwner(text string) (i identity, ok bool) {
	m := ownerForm.FindStringSubmatch(text)
	if m == nil {
		return i, false
	}
	pid, err := strconv.Atoi(m[1])
	return identity{pid: pid, start: m[2], space: m[3], boot: m[4], host: m[5]}, err == nil
}

// self returns the identity of this process.
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

// owner returns the identity of this process as text.
func owner() string { return self().String() }

// liveness says whether a process is alive.
type liveness int

const (
	unknown liveness = iota
	alive
	dead
)

// stateOf returns the liveness of the process that owner names, with a reason unless it is dead.
// near says that what it owns is on this machine, as processes are.
func stateOf(owner string, near bool) (liveness, string) {
	i, ok := parseOwner(owner)
	if !ok {
		return unknown, "its owner is not a locbench"
	}
	return livenessOf(i, self(), near, present)
}

// livenessOf does the work of stateOf, for the process here. present reports whether a process
// exists, and its start time ("": unknown).
func livenessOf(i, here identity, near bool, present func(pid int) (start string, there bool)) (liveness, string) {
	switch {
	case i.host != here.host && (i.boot != here.boot || i.boot == "0"):
		return unknown, "from another machine, " + i.host
	case i.boot != here.boot && near && sameSystem(i, here):
		return dead, "" // it ran on this machine before the last boot
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

// sameSystem reports whether both systems are of one kind and have IDs of their boots: the Linux in
// a Windows has the same host name and is another machine.
func sameSystem(a, b identity) bool {
	return a.boot != "0" && b.boot != "0" && (a.space == "0") == (b.space == "0")
}

// newInstanceID returns a new ID of an instance: <owner>-<12 hex digits>.
func newInstanceID() string {
	var random [6]byte
	rand.Read(random[:]) // never fails
	return owner() + "-" + hex.EncodeToString(random[:])
}

// groupPrefix begins the name of every cgroup of locbench: then come the instance's ID, "=", the
// run's ID.
const groupPrefix = "locbench-"

// groupName returns the name of the cgroup of an instance of a run ("": none).
func groupName(id, run string) string { return groupPrefix + id + "=" + groupRun(run) }

// ProbeGroups returns the limits that this user may not set on processes, and why not a CPU set.
func ProbeGroups() (missing []string, noSet, err error) {
	return cgroup.Tree{}.Probe(groupName(newInstanceID(), ""))
}

// groupRun returns the ID of a run in the form for names of cgroups.
func groupRun(run string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, run[:min(len(run), 64)])
}

// parseGroup reads the name of a cgroup; ok is false unless groupName has made it.
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

// instanceOwner returns the owner in the ID of an instance; ok is false if id is none.
func instanceOwner(id string) (owner string, ok bool) {
	m := instanceForm.FindStringSubmatch(id)
	if m == nil {
		return "", false
	}
	_, ok = parseOwner(m[1])
	return m[1], ok
}
