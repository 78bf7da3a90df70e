package load

import (
	"context"
	"math"
	"net/netip"
	"time"

	"locbench/internal/bench"
	"locbench/internal/figures/verdict"
	"locbench/internal/host/limits"
	"locbench/internal/load/workload"
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

// awaitPorts waits until the local ports that a step needs are free. A connection to the same
// address blocks its port for a minute after its end, so the users of one step may leave too few
// for the next. The warning, if any, says how long the wait was. The error is a *limits.Error or
// ctx's.
func awaitPorts(ctx context.Context, addrs []netip.AddrPort, s bench.Step) (warning bench.Warnings, err error) {
	need := portsNeeded(s)
	have, ok := limits.LocalPorts()
	if need == 0 || !ok {
		return nil, nil
	}
	if have < need {
		return nil, &limits.Error{
			Connections: int(need), What: "local ports within a minute", Need: need, Have: have,
			Remedy: `sysctl -w net.ipv4.ip_local_port_range="1024 65535", or fewer users, or a longer time for their arrivals`,
		}
	}
	began, waited := time.Now(), false
	for {
		used, ok := limits.PortsTo(addrs)
		if !ok || have-used >= need || time.Since(began) > timeWait+5*time.Second {
			break
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(250 * time.Millisecond):
			waited = true // counting used ports may also take long on a busy machine
		}
	}
	if took := time.Since(began); waited {
		return bench.Warnings{verdict.WaitedForPorts(took, need)}, nil
	}
	return nil, nil
}

// checkStepLimits returns Check for the connections of a step. An open loop without a number
// of connections takes fewer if necessary.
func checkStepLimits(s bench.Step) (connections int, err error) {
	connections = workload.MaxOpenConnections(s)
	for {
		err = limits.Check(connections)
		if err == nil || s.Connections > 0 || s.MaxConnections > 0 || connections <= 1 {
			return connections, err
		}
		connections /= 2
	}
}
