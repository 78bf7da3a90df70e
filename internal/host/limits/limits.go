// Package limits says how many connections this machine can open, and which of its ports are in use.
package limits

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// spareFiles is the number of open files reserved for results, logs, samples and an embedded store.
const spareFiles = 64

// Error says that this machine does not let the client open enough connections for a step.
type Error struct {
	Connections int
	What        string // "open files" or "local ports"
	Need, Have  int64
	Remedy      string // a command
}

// Error returns the limit and the command that raises it.
func (e *Error) Error() string {
	return fmt.Sprintf("%d connections need %d %s, but only %d are allowed: %s",
		e.Connections, e.Need, e.What, e.Have, e.Remedy)
}

// Check returns a *Error if that many connections cannot be opened from here. It raises
// the soft limit of open files as far as the hard limit permits. Limits that it cannot read count
// as sufficient.
func Check(connections int) error {
	need := int64(connections + openFiles() + spareFiles)
	if have, ok := raiseFiles(need); ok && have < need {
		return &Error{connections, "open files", need, have, fmt.Sprintf("ulimit -n %d", need)}
	}
	if have, ok := LocalPorts(); ok && have < int64(connections) {
		const remedy = `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`
		return &Error{connections, "local ports", int64(connections), have, remedy}
	}
	return nil
}

// openFiles returns the number of open files; 0 if the system does not report it.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// LocalPorts returns the number of ports for outgoing connections to one address; Linux only.
func LocalPorts() (int64, bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, false
	}
	return parsePorts(string(text))
}

func parsePorts(text string) (int64, bool) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, false
	}
	low, err1 := strconv.ParseInt(fields[0], 10, 32)
	high, err2 := strconv.ParseInt(fields[1], 10, 32)
	if err1 != nil || err2 != nil || high < low {
		return 0, false
	}
	return high - low + 1, true
}
