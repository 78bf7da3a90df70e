package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/fold"
	ui "github.com/locbench/locbench/internal/show/tui/old"
)

func (v *view) header(w, h int, status string) []string {
	status = v.own(status)
	if h <= 6 {
		return []string{v.justify(w, v.doing(w), v.words(true, status))}
	}
	long, brief := v.where()
	words := v.words(h < 28 || v.compact, status)
	lines := []string{v.justify(w, brief, words, v.words(false, status))}
	if ui.Width(long)+ui.Width(words)+2 <= w {
		lines[0] = v.justify(w, long, words)
	}
	if h < 28 || v.compact {
		lines = append(lines, v.justify(w, v.doing(w), v.times()...))
		if v.s.Ended != nil && h >= compactHeight && v.b.tab != contenders {
			lines = append(lines, v.l.Cut(v.headline(), w))
		}
	} else {
		lines = append(lines, v.justify(w, v.doing(w), v.problems()), v.justify(w, v.progress(w), v.times()...))
	}
	if h >= compactHeight && v.b.tab == overview {
		lines = append(lines, v.excluded(w)...)
	}
	return append(lines, v.elsewhere(w)...)
}

// excluded names the excluded contenders, each with the reason; of more than two, the number. Where
// there is room, contenders whose memory grows follow.
func (v *view) excluded(w int) (lines []string) {
	const most = 2
	for _, c := range v.summary() {
		why := c.WhyExcluded()
		if why == "" {
			continue
		}
		text := v.l.Glyph.Cross + " " + v.out(c.Label, nameBytes) + " excluded: " + v.out(why, textBytes)
		lines = append(lines, v.l.Bad.S(v.l.Cut(text, w)))
	}
	excluded := len(lines)
	for _, c := range v.summary() {
		if growth, ok := c.MemoryGrowth(); ok && len(lines) < most {
			lines = append(lines, v.l.Warn.S(v.l.Cut("! "+v.out(c.Label, nameBytes)+": "+v.out(growth.Text, textBytes), w)))
		}
	}
	if n := excluded; n > most {
		text := units.Plural(n-most+1, "more contender") + " excluded: page 3"
		lines = append(lines[:most-1], v.l.Bad.S(v.l.Glyph.Cross+" "+text))
	}
	return lines
}

// justify puts left at the left and, at the right, the first text that fits, or the last one.
func (v *view) justify(w int, left string, right ...string) string {
	n := ui.Width(left)
	for i, r := range right {
		if rw := ui.Width(r); n+rw+2 <= w || i == len(right)-1 {
			if rw == 0 {
				break
			}
			return v.l.Between(v.l.Cut(left, max(0, w-rw-2)), r, w)
		}
	}
	return v.l.Fit(left, w)
}

// where names the profile, the contender, the round and the trial; in full, and in short.
func (v *view) where() (long, brief string) {
	s := v.s
	name := v.out(s.Run.Profile.Name, nameBytes)
	if name == "" {
		title := v.l.Title.S("locbench")
		return title, title
	}
	title := v.l.Title.S(name) + "  "
	switch {
	case s.Ended != nil:
		long, brief = title+v.outcome(), title+v.outcome()
		if counts := v.s.Run.OutcomeCounts(); counts != "" {
			if state, _ := v.s.Run.Outcome(); state == bench.RunComplete {
				brief = title + v.l.Warn.S("! "+counts)
			}
		}
		return long, brief
	case s.Current == nil:
		text := fmt.Sprintf("%s, %s", units.Plural(len(s.Run.Profile.Contenders), "contender"),
			units.Plural(s.Run.Profile.Rounds, "round"))
		return title + text, title + text
	}
	trial, n := s.Current.Result.Trial, s.Current.Number
	label := v.l.Strong.S(v.out(trial.Label(), nameBytes))
	rounds := max(trial.Round, s.Run.Profile.Rounds)
	long = title + label + fmt.Sprintf("  round %d of %d  trial %d of %d", trial.Round, rounds, n, len(s.Trials))
	if d := s.Run.Profile.Interleave; d > 0 {
		long += "  interleaved " + units.Duration(d)
	} else if s.Run.NotInterleaved() != "" { // the log has the reason
		long += "  not interleaved"
	}
	return long, label + fmt.Sprintf("  round %d/%d  trial %d/%d", trial.Round, rounds, n, len(s.Trials))
}

func (v *view) outcome() string {
	state, _ := v.s.Run.Outcome()
	switch {
	case state == bench.RunComplete && v.s.Run.OutcomeCounts() != "":
		return v.l.Warn.S("! " + v.out(v.s.Run.OutcomeText(), lineBytes))
	case state == bench.RunComplete:
		return v.l.Good.S(v.l.Glyph.Check + " " + string(state))
	case state == bench.RunInterrupted:
		return v.l.Warn.S(v.l.Glyph.Skip + " " + string(state))
	}
	return v.l.Bad.S(v.l.Glyph.Cross + " " + v.out(string(state), nameBytes))
}

// words returns the right end of the first line: the number of problems if problems is set, whether
// the run is about to stop, and the status.
func (v *view) words(problems bool, status string) string {
	var parts []string
	if problems {
		parts = append(parts, v.problems())
	}
	switch {
	case !v.s.Paused.IsZero():
		parts = append(parts, v.l.Warn.S(v.l.Glyph.Pause+" PAUSED "+units.Approx(v.at.Sub(v.s.Paused))))
	case v.s.PauseRequested:
		parts = append(parts, v.l.Warn.S("pauses after this step"))
	}
	if v.s.StopRequested {
		parts = append(parts, v.l.Warn.S("stops after this step"))
	}
	parts = slices.DeleteFunc(append(parts, status), func(s string) bool { return s == "" })
	return strings.Join(parts, "  ")
}

func (v *view) problems() string {
	text := ""
	if n := v.s.Errors; n > 0 {
		text = v.l.Bad.S(v.l.Glyph.Cross+" "+units.Plural(n, "error")) + "  "
	}
	if n := v.s.Warnings; n > 0 {
		text += v.l.Warn.S("! "+units.Plural(n, "warning")) + "  "
	}
	if n := v.s.Earlier; n > 0 {
		text += v.l.Faint.S(units.Count(int64(n)) + " before the resume")
	}
	return strings.TrimSuffix(text, "  ")
}

func (v *view) doing(w int) string {
	s := v.s
	switch {
	case s.Ended != nil:
		return v.ended()
	case s.Run.Profile.Name == "" && s.Phase.Name == "":
		return v.spinner() + " starting " + v.l.Glyph.Ellipsis
	case s.Loading():
		return v.loading(w)
	case !s.Paused.IsZero():
		return v.pausedBefore()
	}
	return v.phaseLine(w)
}

// pausedBefore returns the step or trial that a paused run continues with.
func (v *view) pausedBefore() string {
	s := v.s
	if s.Current != nil && s.Phase.Name == bench.PhaseLoad && s.Current.Result.State == bench.TrialRunning {
		n := len(s.Current.Steps) + 1
		return fmt.Sprintf("paused before step %d of %d", n, max(n, len(s.Run.Profile.Steps)))
	}
	n := cmp.Or(s.Current, &fold.Trial{}).Number + 1
	return fmt.Sprintf("paused before trial %d of %d", n, max(n, len(s.Trials)))
}

func (v *view) spinner() string { return v.l.Accent.S(v.l.Spin(v.tick)) }

func (v *view) loading(w int) string {
	st, trial := v.s.Step(), v.s.Current
	of := max(st.Index+1, len(v.s.Run.Profile.Steps))
	between := " of "
	if w < 76 {
		between = "/"
	}
	text := fmt.Sprintf("step %d%s%d: %s", st.Index+1, between, of, v.stepName(st.Step))
	if st.Rate > 0 && st.Rate != st.Step.Rate {
		text += ", now " + units.Number(st.Rate) + "/s"
	}
	ran := max(0, time.Duration((trial.Seconds(v.at)-st.From)*1e9))
	if v.s.Run.Profile.Interleave > 0 { // most of that time belongs to other contenders
		ran = st.Ran
	}
	if st.Step.Duration <= 0 {
		return text + "  " + units.Approx(ran)
	}
	cells := max(0, min(30, (w-len(text)-50)/2))
	if w < 100 {
		cells = 8
	}
	bar := v.l.Bar(float64(ran)/float64(st.Step.Duration), cells, v.l.Good)
	if w < compactWidth {
		bar = v.l.Glyph.Dot
	}
	if ran > st.Step.Duration {
		return text + " " + bar + " draining"
	}
	done := fmt.Sprintf("%ds", int(ran.Seconds()))
	if st.Step.Duration < 3*time.Second {
		done = fmt.Sprintf("%.1fs", ran.Truncate(100*time.Millisecond).Seconds())
	}
	return text + " " + bar + " " + done + " of " + units.Length(st.Step.Duration)
}

func (v *view) progress(w int) string {
	if v.s.Ended != nil {
		return v.headline()
	}
	left, ok := v.s.Estimate.Left(v.at)
	if !ok {
		return ""
	}
	ran := v.s.Estimate.Elapsed(v.at)
	share := float64(ran) / float64(max(1, ran+left))
	return "run " + v.l.Bar(share, min(40, w/4), v.l.Title) + " about " + units.Percent(share)
}

// times returns texts about the elapsed and the remaining time, the longest first.
func (v *view) times() []string {
	if v.s.Started.IsZero() {
		return []string{""}
	}
	ran := units.Approx(max(0, v.s.Estimate.Elapsed(v.at)))
	rest, ok := v.s.Estimate.Left(v.at)
	if v.s.Ended != nil {
		return []string{"took " + ran, ran}
	} else if !ok {
		return []string{"elapsed " + ran, ran}
	}
	left, end := units.Approx(rest), v.at.Add(rest).In(v.zone).Format("15:04")
	return []string{
		"elapsed " + ran + ", about " + left + " left, ends at ~" + end,
		ran + ", about " + left + " left, ends ~" + end,
		ran + ", ~" + left + " left, ~" + end,
		"~" + left + " left",
	}
}

func (v *view) elsewhere(w int) []string {
	if v.trial == nil {
		return nil
	}
	back := ". to return"
	if v.trial == v.s.Current {
		if v.s.Ended == nil || len(v.s.Trials) < 2 || v.b.tab != overview && v.b.tab != steps {
			return nil
		}
		back = "[ ] others" // no other line names the trial of these charts
	}
	r := v.trial.Result
	text := fmt.Sprintf("%s showing %s, round %d, trial %d, %s", v.l.Glyph.Cursor, v.out(r.Trial.Label(), nameBytes),
		r.Trial.Round, v.trial.Number, v.out(string(r.State), nameBytes))
	return []string{v.l.Accent.S(v.l.Fit(v.justify(w, text, back, ""), w))}
}
