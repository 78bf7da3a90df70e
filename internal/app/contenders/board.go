package contenders

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locbench/internal/bench"
	"locbench/internal/console"
	"locbench/internal/safe"
	"locbench/internal/units"
)

// buildBoard tells how far several builds are: on a terminal by a line for each that runs,
// rewritten in place, elsewhere by a plain line for all that a build says. Outcomes go to standard
// output.
type buildBoard struct {
	env    console.Env
	live   bool
	width  int
	jobs   int
	expect map[string]time.Duration // of earlier builds

	mu          sync.Mutex
	waiting     []string
	running     []*building // in the order of their beginnings
	done, total int
	drawn       int // lines of the live part on the screen

	stop    chan struct{}
	stopped sync.WaitGroup
}

type building struct {
	name, last string // last: what it has said last
	began      time.Time
}

// redraw is how often the live part is written anew.
const redraw = 200 * time.Millisecond

func newBuildBoard(env console.Env, list []bench.Service, jobs int, expect map[string]time.Duration) *buildBoard {
	width, live := console.Width(env.Stderr)
	b := &buildBoard{
		env: env, live: live && env.Getenv("TERM") != "dumb", width: width, jobs: jobs, expect: expect,
		total: len(list), stop: make(chan struct{}),
	}
	for _, svc := range list {
		b.waiting = append(b.waiting, selected(svc))
	}
	if b.live {
		b.stopped.Go(b.refresh)
	}
	return b
}

func (b *buildBoard) refresh() {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
			b.mu.Lock()
			b.draw(time.Now())
			b.mu.Unlock()
		}
	}
}

func (b *buildBoard) begin(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = slices.DeleteFunc(b.waiting, func(other string) bool { return other == name })
	b.running = append(b.running, &building{name: name, began: time.Now()})
	if b.live {
		return
	}
	text := fmt.Sprintf("%s (%d of %d)", name, b.total-len(b.waiting), b.total)
	if d := b.expect[name]; d > 0 {
		text += ", " + units.Duration(d) + " the last time"
	}
	fmt.Fprintln(b.env.Stderr, text)
}

// line is one line that the build of name has said.
func (b *buildBoard) line(name, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text = safe.Line(text, 500)
	if !b.live {
		prefix := "  "
		if b.jobs > 1 {
			prefix = name + "  "
		}
		fmt.Fprintln(b.env.Stderr, prefix+text)
		return
	}
	for _, r := range b.running {
		if r.name == name {
			r.last = text
		}
	}
}

// end tells how a build has ended: outcome goes to standard output, trouble to standard error.
func (b *buildBoard) end(name, outcome, trouble string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = slices.DeleteFunc(b.running, func(r *building) bool { return r.name == name })
	b.done++
	b.erase()
	if outcome != "" {
		fmt.Fprintf(b.env.Stdout, "%s: %s\n", name, safe.Line(outcome, 1000))
	} else {
		fmt.Fprintf(b.env.Stderr, "%s: %s\n", name, trouble)
	}
	if b.live {
		b.draw(time.Now())
	}
}

func (b *buildBoard) close() {
	close(b.stop)
	b.stopped.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
}

func (b *buildBoard) erase() {
	if b.drawn > 0 {
		fmt.Fprintf(console.Terminal(b.env.Stderr), "\x1b[%dA\x1b[J", b.drawn)
		b.drawn = 0
	}
}

func (b *buildBoard) draw(now time.Time) {
	var out strings.Builder
	if b.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", b.drawn)
	}
	lines := b.lines(now)
	for _, l := range lines {
		out.WriteString("\r" + fit(l, b.width-1) + "\x1b[K\n")
	}
	out.WriteString("\x1b[J")
	b.drawn = len(lines)
	fmt.Fprint(console.Terminal(b.env.Stderr), out.String())
}

// lines are the live part: one for each build that runs, and one for all.
func (b *buildBoard) lines(now time.Time) (lines []string) {
	for _, r := range b.running {
		took := units.Duration(now.Sub(r.began).Truncate(time.Second))
		if d := b.expect[r.name]; d > 0 {
			took += " of about " + units.Duration(d)
		}
		lines = append(lines, fmt.Sprintf("%s  %s  %s", r.name, took, r.last))
	}
	text := fmt.Sprintf("%d of %d built", b.done, b.total)
	if left := b.left(now); left > 0 {
		text += ", about " + units.Duration(left.Round(time.Second)) + " left"
	}
	return append(lines, text)
}

// left is how long it will still take, by what earlier builds have taken; those not known are taken
// for average ones. 0: no idea.
func (b *buildBoard) left(now time.Time) time.Duration {
	if len(b.expect) == 0 {
		return 0
	}
	var mean time.Duration
	for _, d := range b.expect {
		mean += d / time.Duration(len(b.expect))
	}
	guess := func(name string) time.Duration {
		if d, ok := b.expect[name]; ok {
			return d
		}
		return mean
	}
	var work, longest time.Duration
	for _, r := range b.running {
		d := max(0, guess(r.name)-now.Sub(r.began))
		work, longest = work+d, max(longest, d)
	}
	for _, name := range b.waiting {
		work += guess(name)
	}
	return max(longest, work/time.Duration(max(1, b.jobs)))
}

// fit cuts text, which is safe already, to a number of cells; wide characters count as two.
func fit(text string, cells int) string {
	used := 0
	for i, r := range text {
		w := 1
		if r >= 0x1100 {
			w = 2
		}
		if used += w; used > cells {
			return text[:i]
		}
	}
	return text
}
