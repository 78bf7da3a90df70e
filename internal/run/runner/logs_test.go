package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
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
	var texts []string
	for _, l := range kept {
		texts = append(texts, l.Text)
	}
	// 30 lines: the first 10 of the log, the first 10 of its last burst, the last 10.
	want := "0 1 2 3 4 5 6 7 8 9 … 490 lines … 500 501 502 503 504 505 506 507 508 509 … 480 lines … " +
		"990 991 992 993 994 995 996 997 998 999"
	if strings.Join(texts, " ") != want {
		t.Errorf("%d lines: %+v", len(kept), kept)
	}
}
