package load

import (
	"context"
	"math"
	"net/netip"
	"time"

	"locbench/internal/bench"
	"locbench/internal/figures/verdict"
)

// timeWait is how long a system keeps the port of a connection that it has closed: on Linux always
// a minute.
const timeWait = time.Minute

// portsNeeded returns how many local ports a step takes within the time for which each is kept: users
// have their own connection.
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

// awaitPorts waits until a step has the local ports that it needs. Those of connections to the same
// address that were closed less than a minute ago cannot be used again, so the users of one
// step may leave none for those of the next. The warning, if there is one, says how long that
// took. The error is a *LimitError or ctx's.
func awaitPorts(ctx context.Context, addrs []netip.AddrPort, s bench.Step) (warning bench.Warnings, err error) {
	need := portsNeeded(s)
	have, ok := localPorts()
	if need == 0 || !ok {
		return nil, nil
	}
	if have < need {
		return nil, &LimitError{
			Connections: int(need), What: "local ports within a minute", Need: need, Have: have,
			Remedy: `sysctl -w net.ipv4.ip_local_port_range="1024 65535", or let fewer users come, or over a longer time`,
		}
	}
	began, waited := time.Now(), false
	for {
		used, ok := portsTo(addrs)
		if !ok || have-used >= need || time.Since(began) > timeWait+5*time.Second {
			break
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(250 * time.Millisecond):
			waited = true // to look for them can take long too, on a busy machine
		}
	}
	if took := time.Since(began); waited {
		return bench.Warnings{verdict.WaitedForPorts(took, need)}, nil
	}
	return nil, nil
}
