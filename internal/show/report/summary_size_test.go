package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A summary of many contenders, steps and failures has the size that comments of pull requests take.
// The most important comes first, and what is left out is said.
func TestMarkdown_Size(t *testing.T) {
	for name, test := range map[string]struct {
		contenders int
		change     func([]bench.TrialResult)
		left       string // "": nothing
	}{
		"few":  {3, func([]bench.TrialResult) {}, ""},
		"many": {70, func([]bench.TrialResult) {}, " lines), "},
		"failures with long logs": {12, func(all []bench.TrialResult) {
			for i := range all {
				all[i].State, all[i].Failure = bench.TrialFailed, "exited"
				for n := range 90 {
					all[i].LastLog = append(all[i].LastLog, bench.LogLine{Text: fmt.Sprint("```` \x1b line ", n, strings.Repeat(" é", 40))})
				}
			}
		}, "Failures ("},
	} {
		t.Run(name, func(t *testing.T) {
			run, trials := fixtureOf(test.contenders, 1)
			test.change(trials)
			out := markdown(t, run, trials)
			testenv.Check(t, len(out) <= maxSummary, "%d bytes", len(out))
			_, end, said := strings.Cut(out, "\n</details>\n\nLeft out here, most important first, as this file has 60,000 bytes at most: ")
			if said != (test.left != "") || !strings.Contains(end, test.left) || said && !strings.HasSuffix(end, ". report.html has all of it.\n") {
				t.Errorf("the end is %q", out[len(out)-400:])
			}
			testenv.Check(t, !said || len(out) >= maxSummary/2, "%d bytes: more is left out than necessary", len(out))
			for _, want := range []string{"### ", "| rs-actix", "## Repeat\n", "<details>"} {
				testenv.Contains(t, out, want)
			}
			n := strings.Count(out, "\n`````")
			testenv.Check(t, n%2 <= 0, "%d marks of code: one is open", n)
		})
	}
}
