package runner

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestLogRelay_OnceASecond: lines are published within a second, at most one event per second.
func TestLogRelay_OnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var published []time.Duration
		var lines []int
		began := time.Now()
		r := &logRelay{publish: func(e bench.LogLines) {
			published, lines = append(published, time.Since(began)), append(lines, len(e.Lines))
		}}
		for range 5 {
			r.add(bench.LogLine{Text: "x"})
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		r.add(bench.LogLine{Text: "x"})
		r.flush(true)
		r.add(bench.LogLine{Text: "late"})
		time.Sleep(2 * time.Second) // for the timer of the last event
		want := []time.Duration{time.Second, 2200 * time.Millisecond, 61500 * time.Millisecond}
		testenv.Equal(t, published, want, "published at")
		testenv.Equal(t, lines, []int{4, 1, 1}, "lines")
	})
}

func TestLogRelay_Bounded(t *testing.T) {
	var got []bench.LogLines
	r := &logRelay{publish: func(e bench.LogLines) { got = append(got, e) }}
	for range 5000 {
		r.add(bench.LogLine{Text: strings.Repeat("é", 5000)})
	}
	r.flush(true)
	var lines int
	var dropped int64
	for _, e := range got {
		lines += len(e.Lines)
		dropped += e.Dropped
		for _, l := range e.Lines {
			testenv.Need(t, len(l.Text) <= relayBytes+4 && !strings.ContainsRune(l.Text, '\ufffd'),
				"line of %d bytes", len(l.Text))
		}
	}
	testenv.Check(t, int64(lines)+dropped == 5000 && lines != 0 && lines <= 10*relayLines,
		"%d lines and %d dropped of 5000", lines, dropped)
}

// TestLogRelay_MasksBeforeItCuts: a secret across the cut does not stay in part.
func TestLogRelay_MasksBeforeItCuts(t *testing.T) {
	const secret = "hunter2hunter2"
	var got bench.LogLines
	r := &logRelay{publish: func(e bench.LogLines) { got = e }, masked: func(l bench.LogLine) bench.LogLine {
		l.Text = strings.ReplaceAll(l.Text, secret, "***")
		return l
	}}
	r.add(bench.LogLine{Text: strings.Repeat("x", relayBytes-7) + secret})
	r.flush(true)
	testenv.Check(t, len(got.Lines) == 1 && !strings.Contains(got.Lines[0].Text, "hunter"), "%+v", got)
}

// TestLogRelay_Excerpt: the first lines stay when the instance has dropped them.
func TestLogRelay_Excerpt(t *testing.T) {
	r := &logRelay{publish: func(bench.LogLines) {}}
	var tail []bench.LogLine
	for n := range 1000 {
		line := bench.LogLine{Text: fmt.Sprint(n)}
		r.add(line)
		tail = append(tail, line)
	}
	r.flush(true)
	kept := r.excerpt(tail[500:])
	var texts []string
	for _, l := range kept {
		texts = append(texts, l.Text)
	}
	// 30 lines: the first 10 of the log, the first 10 of its last burst, the last 10.
	want := "0 1 2 3 4 5 6 7 8 9 … 490 lines … 500 501 502 503 504 505 506 507 508 509 … 480 lines … " +
		"990 991 992 993 994 995 996 997 998 999"
	testenv.Equal(t, strings.Join(texts, " "), want, len(kept), kept)
}

// TestDescribeBuild: what a run says of a build, and of a health check that is off.
func TestDescribeBuild(t *testing.T) {
	for want, a := range map[string]bench.Artifact{
		"a: ready":                  {},
		"a: unchanged, not rebuilt": {BuildCached: true, BuildTime: time.Second},
		"a: built in 1.23s":         {BuildTime: 1234 * time.Millisecond},
		"a: unchanged, not rebuilt; the health check of its image is off": {BuildCached: true, Healthcheck: true},
	} {
		testenv.Equal(t, describeBuild(bench.Selection{Contender: "a"}, a), want)
	}
}

// A clock that is set is reported once, with the amount and the sign; a small correction is not.
func TestClockMoved(t *testing.T) {
	for was, want := range map[time.Duration]time.Duration{
		0: 0, 400 * time.Millisecond: 0, -400 * time.Millisecond: 0, // less than clockStep
		3 * time.Second: -3 * time.Second, -time.Hour: time.Hour,
	} {
		c := &clock{began: time.Now(), off: was}
		if got, set := c.moved(); got.Round(time.Millisecond) != want || set != (want != 0) {
			t.Errorf("off by %v: moved by %v (%v), want %v", was, got, set, want)
		}
		again, set := c.moved()
		testenv.Check(t, !set, "off by %v: reported again, %v", was, again)
	}
}
