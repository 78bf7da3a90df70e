// Package launch starts contenders: in a container, as a process of this machine, or not at all
// where somebody else has started the service. Whatever it starts is bounded by limits as far as
// the machine allows, marked with the ID of the run, and removed when the instance is stopped, also
// when the run is interrupted.
package launch

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"locbench/internal/bench"
)

// The environment of every process that Process and Helper start says whose it is.
const (
	envRun      = "LOCBENCH_RUN"      // ID of the run; "" for none
	envInstance = "LOCBENCH_INSTANCE" // this very instance, with its owner: all its descendants inherit it
)

var (
	errStopped = errors.New("the instance has been stopped")
	errNoGroup = errors.New("its cgroup cannot be read")
)

// FreePort finds a TCP port of the loopback interface that nobody listens on. Somebody else may
// take it before it is used.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// Free is nil where nobody listens on a TCP port of the loopback interface.
func Free(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("its manifest has no {{.Port}}, and its port %d is in use: %w",
			port, err)
	}
	return l.Close()
}

// peak keeps the largest sample where the kernel keeps no peak.
type peak struct {
	mu  sync.Mutex
	max int64
}

func (p *peak) keep(u *bench.Usage) {
	if u.Memory == nil || !u.Memory.PeakIsSample {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.max = max(p.max, u.Memory.Peak)
	u.Memory.Peak = p.max
}
