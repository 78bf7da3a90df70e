package limits

import (
	"context"
	"math"
	"net/netip"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

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
