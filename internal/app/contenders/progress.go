package contenders

import (
	"fmt"
	"sync"
	"time"

	"locbench/internal/console"
	"locbench/internal/safe"
	"locbench/internal/units"
)

// buildProgress writes what several builds do and say, by whole lines: outcomes to standard output,
// all else to standard error.
type buildProgress struct {
	env    console.Env
	jobs   int                      // builds at the same time
	total  int                      // builds
	expect map[string]time.Duration // of earlier builds

	mu    sync.Mutex
	begun int
}

func (p *buildProgress) begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun++
	text := fmt.Sprintf("%s (%d of %d)", name, p.begun, p.total)
	if d := p.expect[name]; d > 0 {
		text += ", " + units.Duration(d) + " the last time"
	}
	fmt.Fprintln(p.env.Stderr, text)
}

// line is one line that the build of name has said.
func (p *buildProgress) line(name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	prefix := "  "
	if p.jobs > 1 {
		prefix = name + "  "
	}
	fmt.Fprintln(p.env.Stderr, prefix+safe.Line(text, 500))
}

// end says how a build has ended: outcome goes to standard output, trouble to standard error.
func (p *buildProgress) end(name, outcome, trouble string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if outcome != "" {
		fmt.Fprintf(p.env.Stdout, "%s: %s\n", name, safe.Line(outcome, 1000))
	} else {
		fmt.Fprintf(p.env.Stderr, "%s: %s\n", name, trouble)
	}
}
