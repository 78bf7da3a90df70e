package contenders

import (
	"fmt"
	"io"
	"sync"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

// buildProgress prints the progress of several builds, in whole lines: outcomes to standard output,
// all else to standard error.
type buildProgress struct {
	env     console.Env
	jobs    int // builds at the same time
	total   int // builds
	runtime bench.Runtime

	mu    sync.Mutex
	begun int
}

func (p *buildProgress) begin(svc bench.Service) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun++
	text := fmt.Sprintf("%s (%d of %d)", selected(svc), p.begun, p.total)
	if took := contender.LastBuild(svc, p.runtime, contender.BuildOptions{}); took > 0 {
		text += ", " + units.Duration(took) + " last time"
	}
	fmt.Fprintln(p.env.Stderr, text)
}

// line prints one line of the output of a build.
func (p *buildProgress) line(svc bench.Service, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	prefix := "  "
	if p.jobs > 1 {
		prefix = selected(svc) + "  "
	}
	fmt.Fprintln(p.env.Stderr, prefix+safe.Line(text, 500))
}

func (p *buildProgress) end(w io.Writer, svc bench.Service, outcome string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(w, "%s: %s\n", selected(svc), safe.Line(outcome, 1000))
}
