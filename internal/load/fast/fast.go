// Package fast has the load loop for Linux and HTTP/1.1 without TLS: a few threads, each with the
// system calls and the response parser that cost least per request. It allocates nothing per
// request.
package fast

import (
	"net/netip"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/record"
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
)

// Config is what New makes a loop from.
type Config struct {
	Addresses   []netip.AddrPort // addresses of the contender; the first one that accepts a connection is used
	Step        bench.Step
	Mix         *workload.Mix
	Timeout     time.Duration // timeout of one request
	DialTime    time.Duration // for opening all connections before the clock starts
	Recorder    *record.Recorder
	Keep        *wire.Kept // nil: connections are closed after the step
	Connections int
	Shards      int  // number of threads; 0: half of the CPUs
	Epoll       bool // do not use io_uring
}
