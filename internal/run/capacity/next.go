package capacity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// next returns what to do next, and the command for it.
func (s searched) next() (text, command string) {
	if len(s.Points) == 0 || slices.ContainsFunc(s.Points, func(p Point) bool { return !finished(p) }) {
		return "Search again", s.again()
	}
	more := func(p Point) (string, string) {
		return "Allow more probes", s.again("--max-probes", strconv.Itoa(2*p.Result.Probes))
	}
	if s.best == nil {
		if i := slices.IndexFunc(s.Points, func(p Point) bool { return p.Result.State == Undecided }); i >= 0 {
			return more(s.Points[i])
		}
		return s.withCPUs(2, "Give it more", "Set an SLO that it can meet")
	}
	p := *s.best
	confirm := []string{"--confirm", fmt.Sprintf("%d/%d", min(s.Need+1, 50), min(s.Of+2, 100))}
	switch {
	case p.Result.Held < minHeld:
		return "Confirm it", s.again("--confirm", "2/3")
	case p.Result.Client:
		return s.withCPUs(.5, "Find its own limit", "Run the client on another machine")
	case p.Result.Above <= 0:
		return "Try higher rates", s.again("--max-rate", fmt.Sprintf("%.0f", min(2*p.Result.Rate, 1e6)))
	case p.Result.State == AtLeast:
		return more(p)
	case p.Room() > 0 && p.Limits.CPUs > 0 && p.Room() < p.Limits.Memory*3/4:
		return "Try it with less memory", s.again(append(cpus(p.Limits.CPUs), memory(p.Room())...)...)
	case len(s.Points) > 1:
		return "Probe the choice more", s.again(append(confirm, s.limits(p.Limits.CPUs, p.Limits.Memory)...)...)
	}
	return "Probe it more", s.again(confirm...)
}

func cpus(n float64) []string {
	return []string{"--limits", "cpus=" + strconv.FormatFloat(n, 'g', 4, 64)}
}

func memory(bytes int64) []string {
	return []string{"--limits", "memory=" + strictyaml.FormatBytes(bytes)}
}

// limits returns the flags for one of the limits that the search had, or for others of the same kind.
func (s searched) limits(n float64, bytes int64) (flags []string) {
	if !s.ByMemory() {
		flags = cpus(n)
	}
	given := func(arg string) bool { return strings.HasPrefix(strings.TrimPrefix(arg, "--limits="), "memory=") }
	if s.ByMemory() || slices.ContainsFunc(s.Command, given) {
		flags = append(flags, memory(bytes)...)
	}
	return flags
}

// withCPUs proposes a search with a multiple of the CPUs, or something else if there are none to
// change.
func (s searched) withCPUs(factor float64, text, other string) (string, string) {
	var of bench.Limits
	for _, p := range s.Points {
		of.CPUs, of.Memory = max(of.CPUs, p.Limits.CPUs), max(of.Memory, p.Limits.Memory)
	}
	if s.best != nil {
		of = s.best.Limits
	}
	if of.CPUs <= 0 || s.ByMemory() {
		return other, ""
	}
	return text, s.again(s.limits(factor*of.CPUs, of.Memory)...)
}

// again returns the command of the search with other flags and into a new folder; "" if it is
// unknown.
func (r Record) again(flags ...string) string {
	if len(r.Command) == 0 {
		return ""
	}
	left := []string{"--out", "-o"}
	for i := 0; i < len(flags); i += 2 {
		left = append(left, flags[i])
		if key, _, ok := strings.Cut(flags[i+1], "="); ok {
			left = append(left, "--"+key) // --cpus is wrong with --limits cpus=1
		}
	}
	var args []string
	for i := 0; i < len(r.Command); i++ {
		arg := safe.Line(r.Command[i], 200)
		name, _, joined := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(left, name):
			args = append(args, arg)
		case !joined:
			i++ // its value
		}
	}
	return conclusion.Command(append(args, flags...))
}
