package runner

import (
	"fmt"
	"strings"
	"testing"

	"locbench/internal/bench"
)

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
	if len(got.Lines) != 1 || strings.Contains(got.Lines[0].Text, "hunter") {
		t.Errorf("%+v", got)
	}
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
	if len(kept) != keptLines+2 || kept[0].Text != "0" || kept[9].Text != "9" || kept[len(kept)-1].Text != "999" {
		t.Errorf("%d lines: %+v", len(kept), kept)
	}
}
