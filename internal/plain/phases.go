package plain

import (
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
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
