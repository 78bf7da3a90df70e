// Package fast has the loop of Linux for HTTP/1.1 in clear: a few threads, each with the system
// calls and the reader of responses that cost it the least for a request. Nothing is allocated for
// one.
package fast

import (
	"net/netip"
	"time"

	"locbench/internal/bench"
	"locbench/internal/load/record"
	"locbench/internal/load/wire"
	"locbench/internal/load/workload"
)

// Config is what the loop works with.
type Config struct {
	Addresses   []netip.AddrPort // of the contender: the first at which anybody answers is used
	Step        bench.Step
	Mix         *workload.Mix
	Timeout     time.Duration  // of one request
	DialTime    time.Duration  // of all connections that are opened before the clock starts
	Rate        func() float64 // changes the rate of an open loop; may be nil
	Recorder    *record.Recorder
	Keep        *wire.Kept // nil: connections are closed with the step
	Connections int
	Shards      int  // number of threads; 0 is half of the CPUs
	Epoll       bool // without io_uring
}
