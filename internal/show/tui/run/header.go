package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/fit"
)

// leastTabs and leastHeader are the lines of a page with the row of tabs, and with a whole header,
// of which a problem leaves leastBelow to the tab in one column.
const leastTabs, leastHeader, leastBelow = 7, 10, 3

// heading is the head of the page.
type heading struct{ *Run }

// lines are the first lines: where and in which state, what is done now, the row of tabs, and the
// first problem.
func (r heading) lines() (lines []string) {
	t, w, h := r.theme, r.size.Width, r.size.Height
	margin := " "
	if r.size.Class == ui.Column {
		margin = ""
	}
	switch {
	case r.size.Class == ui.Full:
		lines = []string{ui.Ends(margin+r.crumbs(), r.status()+"  "+r.times()+" ", w)}
		if !r.over() {
			lines = append(lines, ui.Ends(margin+r.doing(), r.progress(w-fit.Width(r.doing())-8), w))
		}
	case r.over():
		left, right := margin+r.outcome(), t.Title.S(r.profile())
		if fit.Width(left)+fit.Width(right) >= w {
			right = ""
		}
		lines = []string{ui.Ends(left, right, w)}
	case h < leastHeader || r.size.Class == ui.Compact:
		right := strings.TrimLeft(r.status()+"  "+r.times(), " ")
		lines = []string{ui.Ends(margin+r.contenderDoing(w-len(margin)-fit.Width(right)-1), right, w)}
	default:
		lines = []string{ui.Ends(r.contenderDoing(w-fit.Width(r.status())-1), r.status(), w), ui.Ends(r.progress(w-fit.Width(r.times())-2), r.times(), w)}
	}
	if h < leastTabs {
		return lines
	}
	lines = append(lines, r.tabLine(w))
	if text := r.elsewhere(); text != "" {
		lines = append(lines, ui.Ends(margin+t.Accent.S(text), t.Faint.S(". back"), w))
	}
	if h < leastHeader {
		return lines
	}
	return append(lines, r.problemLines(len(lines), w-len(margin), margin)...)
}

func (r *Run) profile() string { return ui.Outside(r.state.Run.Profile.Name, nameBytes) }

// crumbs names the profile and the trial: "locations › kt-http4k   round 1 of 1 · trial 4 of 4".
func (r heading) crumbs() string {
	t, s := r.theme, &r.state
	text := t.Title.S(r.profile())
	switch current := s.Current; {
	case r.profile() == "":
		return t.Title.S("locbench")
	case r.over():
		return text + " › result   " + r.outcome()
	case current == nil:
		return text + fmt.Sprintf("   %s, %s", units.Plural(len(s.Run.Profile.Contenders), "contender"),
			units.Plural(s.Run.Profile.Rounds, "round"))
	default:
		trial := current.Result.Trial
		text += " › " + t.Strong.S(ui.Outside(trial.Label(), nameBytes))
		text += fmt.Sprintf("   round %d of %d · trial %d of %d", trial.Round, max(trial.Round, s.Run.Profile.Rounds), current.Number, len(s.Trials))
		if d := s.Run.Profile.Interleave; d > 0 {
			text += " · interleaved, slices from " + units.Duration(d)
		} else if s.Run.NotInterleaved() != "" { // the log has the reason
			text += " · not interleaved"
		}
		return text
	}
}

// contenderDoing names the running contender as far as there is room, and what it does.
func (r heading) contenderDoing(w int) string {
	const least = 6 // cells of a name that is cut
	doing := r.doing()
	if r.state.Current == nil {
		return doing
	}
	gap := "  "
	if r.size.Class == ui.Column {
		gap = " "
	}
	name := ui.Outside(r.state.Current.Result.Trial.Label(), nameBytes)
	if room := w - fit.Width(gap+doing); room >= min(least, fit.Width(name)) {
		return r.theme.Strong.S(fit.Cut(name, room)) + gap + doing
	}
	return doing
}

// outcome says how the run ended.
func (r heading) outcome() string {
	t, run := r.theme, r.state.Run
	state, _ := run.Outcome()
	text := string(state)
	if counts := run.OutcomeCounts(); counts != "" {
		text += ", " + counts
	}
	paint, sign := t.Bad, t.Glyph.Cross
	switch {
	case state == bench.RunComplete && run.OutcomeCounts() == "":
		paint, sign = t.Good, t.Glyph.Check
	case state == bench.RunComplete:
		paint, sign = t.Warn, "!"
	case state == bench.RunInterrupted:
		paint, sign = t.Warn, t.Glyph.Skip
	}
	text = paint.S(sign + " " + text)
	if n := len(run.Profile.Contenders); n > 0 {
		contenders := units.Plural(n, "contender")
		if r.size.Class == ui.Column {
			contenders = strconv.Itoa(n)
		}
		text += fmt.Sprintf(": %s × %s", contenders, units.Plural(run.Profile.Rounds, "round"))
	}
	if took := r.state.Estimate.Elapsed(r.now()); took >= time.Second {
		text += " in " + units.Approx(took)
	}
	return text
}

// status is the state in a word with its sign.
func (r heading) status() string {
	t, s := r.theme, &r.state
	short := r.size.Class != ui.Full
	switch {
	case r.over():
		return ""
	case r.control.forcing:
		return t.Bad.S("forced stop")
	case r.control.stopping:
		return t.Warn.S("stopping")
	case !s.Paused.IsZero():
		return t.Warn.S(t.Glyph.Pause + " paused " + units.Approx(r.now().Sub(s.Paused)))
	case s.PauseRequested && short:
		return t.Warn.S(t.Glyph.Pause + " soon")
	case s.PauseRequested:
		return t.Warn.S(t.Glyph.Pause + " pauses after this step")
	case s.StopRequested && short:
		return t.Warn.S("stops soon")
	case s.StopRequested:
		return t.Warn.S("stops after this step")
	case short:
		return ""
	case !r.options.Session.CanSteer():
		return t.Faint.S("watching")
	}
	return t.Good.S(t.Glyph.Run + " running")
}

// times are the elapsed time and the time left; in a pause there is none left.
func (r heading) times() string {
	s := &r.state
	if s.Started.IsZero() {
		return ""
	}
	ran := units.Approx(max(0, s.Estimate.Elapsed(r.now())))
	if r.over() {
		return r.theme.Faint.S(ui.Outside(r.options.Session.Dir(), 300))
	}
	left, ok := s.Estimate.Left(r.now())
	words := s.Estimate.Words(r.now(), "")
	switch {
	case !ok || !s.Paused.IsZero():
		return ran + " elapsed"
	case r.size.Class == ui.Column:
		return strings.TrimSuffix(words, s.Estimate.Without())
	case r.size.Class == ui.Compact:
		return ran + ", " + strings.TrimSuffix(words, s.Estimate.Without())
	case left >= 10*time.Minute && !s.Estimate.Late(r.now()):
		return fmt.Sprintf("%s elapsed, about %s, ends at %s", ran, words, r.now().Add(left).Format("15:04"))
	}
	return ran + " elapsed, " + words
}

// progress is a line of the whole run in w cells.
func (r heading) progress(w int) string {
	if _, ok := r.state.Estimate.Left(r.now()); !ok || w < 16 {
		return ""
	}
	share := r.state.Estimate.Share(r.now())
	head := "run "
	if r.size.Class == ui.Column {
		head = ""
	}
	return head + r.theme.Progress(share, min(w-10, 80)) + fmt.Sprintf(" %3.0f%% ", 100*share)
}

// elsewhere names the trial that is shown, if it is not the running one.
func (r heading) elsewhere() string {
	trial := r.trial()
	if trial == nil || trial == r.state.Current || r.onResult() {
		return ""
	}
	name := trial.Result.Trial
	return fmt.Sprintf("%s %s, round %d, trial %d: %s", r.theme.Glyph.Cursor, ui.Outside(name.Label(), nameBytes), name.Round, trial.Number,
		ui.Outside(string(trial.Result.State), nameBytes))
}

// problemLines is the first problem: whole, unless it takes the room of the page, else the begin of
// what happened and what to do, else the begin alone.
func (r heading) problemLines(above, w int, margin string) (lines []string) {
	t, all := r.theme, r.failed.of(&r.state, problems)
	switch {
	case r.ended:
		lines = r.lastWords(w)
	case len(all) > 0 && !r.over():
		most := max(3, r.size.Height/4) // the page of the checks has it whole
		if r.size.Class == ui.Column {
			most = r.size.Height - above - leastBelow
		}
		head, remedy := all[0].head, all[0].remedy
		sign := t.Bad.S(t.Glyph.Cross) + " "
		if lines = ui.Hang(sign, head+"; "+remedy, w, t.Bad); len(lines) > most {
			lines = append([]string{sign + t.Bad.S(ui.Words(head, w-2))}, ui.Hang("  ", remedy, w, ui.Paint{})...)
		}
		if len(lines) > most {
			lines = lines[:1]
		}
	}
	for i, line := range lines {
		lines[i] = margin + line
	}
	return lines
}

// lastWords is what a run wrote to standard error when its end is not among the events.
func (r heading) lastWords(w int) []string {
	steered, told := r.options.Session.CanSteer(), strings.TrimSpace(r.stderr)
	if told == "" && (r.state.Ended != nil || r.code == 0) || told != "" && steered && r.state.Ended != nil {
		return nil
	}
	head, remedy, most := fmt.Sprintf("the run failed: exit code %d", r.code), "see the output, then start it again", 3
	if r.state.Version == 0 {
		most = 12
	}
	if !steered {
		head, remedy = "the results are incomplete", "run it again, or resume it: R"
	}
	var lines []string
	for line := range strings.Lines(told) {
		lines = append(lines, ui.Outside(strings.TrimSpace(line), 1000))
	}
	whole := r.theme.Problem(head, remedy, w)
	if len(lines) > 0 {
		output := strings.Join(lines[max(0, len(lines)-most):], "\n")
		whole = slices.Insert(whole, 1, r.theme.Rows([]ui.Row{{Name: "output", Text: output}}, w)...)
	}
	return whole
}
