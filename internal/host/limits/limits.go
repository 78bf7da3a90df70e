// Package limits says how many connections this machine can open, and which of its ports are in use.
package limits

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
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

// timeWait is how long a system keeps the port of a closed connection: on Linux always a minute.
const timeWait = time.Minute

// portsNeeded returns how many local ports a step uses within timeWait: each user has its own
// connection.
func portsNeeded(s bench.Step) int64 {
	if s.Arrivals == nil {
		return 0
	}
	share := 1.
	if s.Arrivals.Over > timeWait {
		share = float64(timeWait) / float64(s.Arrivals.Over)
	}
	return int64(math.Ceil(share * float64(s.Arrivals.Users)))
}

// AwaitPorts waits until the local ports that a step needs are free. A connection to the same
// address blocks its port for a minute after its end, so the users of one step may leave too few
// for the next. took is 0 if no wait was necessary. The error is an *Error or ctx's.
func AwaitPorts(ctx context.Context, addrs []netip.AddrPort, s bench.Step) (took time.Duration, need int64, err error) {
	need = portsNeeded(s)
	have, ok := LocalPorts()
	if need == 0 || !ok {
		return 0, need, nil
	}
	if have < need {
		return 0, need, &Error{
			Connections: int(need), What: "local ports within a minute", Need: need, Have: have,
			Remedy: `sysctl -w net.ipv4.ip_local_port_range="1024 65535", or fewer users, or a longer time for their arrivals`,
		}
	}
	if all, ok := connections(); ok && have-all >= need {
		return 0, need, nil // enough, wherever those go
	}
	began, waited := time.Now(), false
	for {
		used, ok := PortsTo(addrs)
		if !ok || have-used >= need || time.Since(began) > timeWait+5*time.Second {
			break
		}
		select {
		case <-ctx.Done():
			return 0, need, context.Cause(ctx)
		case <-time.After(250 * time.Millisecond):
			waited = true // counting used ports may also take long on a busy machine
		}
	}
	if waited {
		took = time.Since(began)
	}
	return took, need, nil
}
