package plain

import (
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
	"locbench/internal/stats"
	"locbench/internal/units"
)

// requestsTimed tells the first request and the typical later ones, a line each.
func (p *Printer) requestsTimed(ph bench.Phases) {
	p.line("  request  first %s", p.phases(ph.First))
	for _, later := range []struct {
		name string
		all  []bench.RequestPhases
		mid  bench.RequestPhases
	}{{"later", ph.Kept, ph.Typical()}, {"new connection", ph.New, ph.TypicalNew()}} {
		if len(later.all) == 0 {
			continue
		}
		failed := 0
		for _, r := range later.all {
			if r.Err != "" {
				failed++
			}
		}
		text := "no success"
		if failed < len(later.all) {
			text = p.phases(later.mid) + ", the median of " + units.Count(int64(len(later.all)-failed))
		}
		if failed > 0 {
			text += ", " + p.paint(red, units.Count(int64(failed))+" FAILED")
		}
		p.line("           %s %s", later.name, text)
	}
}

// phases is "1.20 ms: connect 80.1 µs, sent 9.00 µs, first byte 1.10 ms, last byte 10.0 µs".
func (p *Printer) phases(r bench.RequestPhases) string {
	var parts []string
	for _, part := range []struct {
		name string
		d    time.Duration
	}{{"name", r.Name}, {"connect", r.Connect}, {"TLS", r.TLS}, {"sent", r.Send}, {"first byte", r.FirstByte}, {"last byte", r.Receive}} {
		if part.d > 0 {
			parts = append(parts, part.name+" "+units.Duration(part.d))
		}
	}
	text := units.Duration(r.Total)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if r.Err != "" {
		text += ", " + p.paint(red, "FAILED: ") + safe.Line(r.Err, 300)
	}
	return text
}

// around tells how the latencies and the rates of a step lie around their means, where the first
// requests were timed: procedure C.
func (p *Printer) around(l bench.Load) {
	if s, ok, err := stats.LatencySpread(l.Latency); ok && err == nil {
		p.line("    latency  mean %s, sd %s, max %s, %.1f %% within one sd", units.Duration(time.Duration(s.Mean)), units.Duration(time.Duration(s.SD)),
			units.Duration(time.Duration(s.Max)), 100*s.Within)
	}
	if s, ok := stats.RateSpread(l); ok {
		p.line("    req/s    mean %s, sd %s, max %s, %.1f %% within one sd, of %s of one second", units.Rate(s.Mean), units.Rate(s.SD), units.Rate(s.Max),
			100*s.Within, units.Plural(int(s.N), "window"))
	}
	if v := stats.BytesPerSecond(l); v > 0 {
		p.line("    bodies   %s/s", units.Bytes(int64(v)))
	}
}
