package board

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	ui "github.com/locbench/locbench/internal/show/tui/old"
	"github.com/locbench/locbench/internal/text/safe"
)

var verbs = map[bench.Phase]string{
	bench.PhaseStore: "connecting to store", bench.PhaseSeed: "seeding the store",
	bench.PhaseBuild:  "building",
	bench.PhaseLaunch: "launching", bench.PhaseReady: "waiting until ready", bench.PhaseCheck: "checking",
	bench.PhaseLoad: "loading", bench.PhaseStop: "stopping",
}

func (v *view) phaseText() string {
	p := v.s.Phase
	name := v.out(string(p.Name), nameBytes)
	switch {
	case p.Name == "":
		return v.spinner() + " preparing " + v.l.Glyph.Ellipsis
	case p.Err != "":
		return v.l.Bad.S(v.l.Glyph.Cross + " " + name + " failed")
	case p.Ended:
		return v.spinner() + " " + name + " done"
	}
	name = cmp.Or(verbs[p.Name], name)
	if note := v.out(p.Note, nameBytes); note != "" {
		name += " " + v.l.Faint.S("("+note+")")
	}
	return v.spinner() + " " + name
}

func (v *view) phaseLine(w int) string {
	p := v.s.Phase
	text := v.phaseText()
	if p.Ended || p.Name == "" {
		return text
	}
	if n, share := v.counts(); n != "" {
		if share >= 0 && !v.compact {
			text += " " + v.l.Bar(share, max(6, min(30, w/8)), v.l.Good) + " " + units.Tenths(share)
		} else {
			text += "  " + n
		}
	}
	return text + "  " + v.since()
}

func (v *view) since() string {
	from := v.s.Phase.Since
	if from.IsZero() {
		from = v.s.Started
	}
	if from.IsZero() {
		from = v.at
	}
	return units.Approx(max(0, v.at.Sub(from)).Truncate(time.Second))
}

// counts returns the progress of the phase as text, and the share that is done; -1 if unknown.
func (v *view) counts() (string, float64) {
	if v.s.Phase.Name == bench.PhaseCheck && v.s.Current != nil {
		passed, failed, skipped := v.s.Current.Checks()
		return units.Plural(passed+failed+skipped, "check") + " done", -1
	}
	p := v.s.Phase.Progress
	if p == nil || p.Done <= 0 && p.Total <= 0 {
		return "", -1
	}
	unit := v.out(p.Unit, nameBytes)
	if p.Total <= 0 {
		return units.Count(p.Done) + " " + unit, -1
	}
	share := min(1, float64(max(0, p.Done))/float64(p.Total))
	return units.Count(p.Done) + " of " + units.Count(p.Total) + " " + unit, share
}

func (v *view) phasePanel(w, h int) []string {
	if v.trial != nil && (v.trial != v.s.Current || v.s.Ended != nil) {
		return v.withoutSteps(w, h)
	}
	if v.s.Ended != nil { // no trial to show: show why
		lines := append([]string{"", "run " + v.outcome()}, v.wrapped(v.s.Ended.Err, w, 6)...)
		lines = append(lines, v.ended(), "")
		return append(lines, v.soFar(w, h-len(lines))...)
	}
	if v.s.Run.Profile.Name == "" && v.s.Phase.Name == "" {
		awaited := v.l.Faint.S("waiting for the run to start")
		return []string{"", v.spinner() + " starting " + v.l.Glyph.Ellipsis, "", awaited}
	}
	lines := []string{"", v.justify(w, v.l.Strong.S(v.phaseText()), "for "+v.since(), "")}
	lines = append(lines, v.progressLines(w)...)
	if err := v.s.Phase.Err; err != "" {
		lines = append(lines, v.wrapped(err, w, 4)...)
	}
	lines = append(lines, "")
	if v.trial != nil {
		return append(lines, v.startingUp(w, h-len(lines))...)
	}
	return append(lines, v.soFar(w, h-len(lines))...)
}

func (v *view) wrapped(text string, w, n int) []string {
	return ui.Each(v.l.Bad, v.l.Wrap(v.out(text, textBytes), w, n))
}

func (v *view) progressLines(w int) []string {
	p := v.s.Phase
	if p.Ended {
		return nil
	}
	var lines []string
	text, share := v.counts()
	took := v.at.Sub(p.Since)
	if p.Since.IsZero() {
		took = 0
	}
	if p.Name == bench.PhaseReady && v.s.Current != nil {
		if limit := v.s.Current.Result.Service.Ready.Timeout; limit > 0 {
			bar := v.l.Bar(float64(took)/float64(limit), max(10, min(60, w-30)), v.l.Warn)
			lines = append(lines, "  "+bar+" of max "+units.Approx(limit))
		}
	}
	if share >= 0 {
		lines = append(lines, "  "+v.l.Bar(share, max(10, min(60, w-14)), v.l.Good)+" "+v.l.Right(units.Tenths(share), 6))
	}
	if text != "" && p.Name != bench.PhaseCheck {
		if done := p.Progress; done != nil && done.Done > 0 && took > time.Second {
			text += ", " + rate(float64(done.Done)/took.Seconds()) + "/s"
		}
		lines = append(lines, "  "+text)
	}
	if p.Progress != nil && p.Progress.Text != "" {
		for _, line := range v.l.Wrap(v.out(p.Progress.Text, lineBytes), max(10, w-4), 3) {
			lines = append(lines, "  "+v.l.Faint.S(line))
		}
	}
	return lines
}

func (v *view) startingUp(w, h int) []string {
	var lines []string
	if n := len(v.trial.Result.Checks); n > 0 {
		text := v.l.Title.S("checks") + "  " + v.outcomes("")
		if v.s.Phase.Name == bench.PhaseCheck {
			last := v.trial.Result.Checks[n-1]
			text += "  " + v.l.Faint.S("last: "+v.out(last.Group, nameBytes)+"/"+v.out(last.Name, nameBytes))
		}
		lines = append(lines, text, "")
	}
	log := min(max(2, (h-len(lines))/2), len(v.trial.Log)+2)
	lines = append(lines, v.l.Title.S("log"))
	lines = append(append(lines, v.lastLog(w, log-2)...), "")
	return append(lines, v.soFar(w, h-len(lines))...)
}

func (v *view) soFar(w, h int) []string {
	if h < 2 {
		return nil
	}
	return append([]string{v.l.Title.S("events")}, v.lastEvents(w, h-1)...)
}

// withoutSteps replaces the charts of a trial without steps: it failed before the load, or
// completed before the run was resumed.
func (v *view) withoutSteps(w, h int) []string {
	lines := append([]string{""}, v.failure(w)...)
	text := "stopped before the load"
	if v.trial.Result.State == bench.TrialComplete {
		text = "completed before the resume: see the results folder"
	}
	lines = append(lines, text, "")
	for _, line := range safe.FirstAndLast(v.trial.Result.LastLog, max(0, h/2-len(lines))) {
		lines = append(lines, v.logLine(line, w))
	}
	return append(append(lines, ""), v.soFar(w, h-len(lines)-1)...)
}

func (v *view) ended() string { return "results in " + v.out(v.s.Dir, 300) }

func (v *view) headline() string {
	var peaks []string
	for _, c := range v.summary() {
		if s, ok := c.PeakStep(); ok && c.WhyExcluded() == "" {
			peaks = append(peaks, v.l.Cut(v.out(c.Label, nameBytes), 24)+" "+v.l.Strong.S(rate(s.Throughput.Median)+" req/s")+
				" at "+v.out(s.Step.Short(), nameBytes)+fmt.Sprintf(" (n = %d)", s.Rounds))
		}
	}
	if len(peaks) == 0 {
		return "no measured step"
	}
	return "peaks: " + strings.Join(peaks, "  "+v.l.Glyph.Dot+"  ")
}
