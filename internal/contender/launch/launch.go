// Package launch starts contenders in containers or as processes of this machine, or uses a target,
// which locbench did not start. What it starts gets limits as far as the machine allows, has the
// run's ID as a mark, and is removed at the stop of the instance, also in an interrupted run.
package launch

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/locbench/locbench/internal/bench"
)

// Variables in the environment of every process that Process and Helper start: the marks.
const (
	envRun      = "LOCBENCH_RUN"      // ID of the run; "": none
	envInstance = "LOCBENCH_INSTANCE" // ID of the instance, with its owner; all its descendants inherit it
)

var (
	errStopped = errors.New("instance stopped")
	errNoGroup = errors.New("cgroup not readable")
)

// FreePort returns a TCP port of the loopback interface that is free, though not reserved.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// Free returns an error unless a TCP port of the loopback interface is free.
func Free(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("its manifest has no {{.Port}}, and its port %d is in use: %w", port, err)
	}
	return l.Close()
}

// peak keeps the largest sample if the kernel keeps no peak.
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
