package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMarkdown(t *testing.T) {
	run, trials := fixture()
	out := markdown(t, run, trials)
	testenv.Golden(t, "testdata/summary.md", out)
}

func TestLibraryHasItsDigest(t *testing.T) {
	js := testenv.Must(library())(t)
	sum := sha256.Sum256(js)
	testenv.Check(t, hex.EncodeToString(sum[:]) == "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1", "assets/echarts.min.js.gz has digest %x", sum)
	for _, end := range []string{"</script", "<!--"} {
		testenv.Check(t, !bytes.Contains(bytes.ToLower(js), []byte(end)),
			"the library holds %q: it cannot be in a script element", end)
	}
}

// The conclusion comes first, then what explains it, then all results and the charts. Explanations are folded.
func TestConclusionComesFirst(t *testing.T) {
	run, trials := small()
	page, last := string(render(t, run, trials)), 0
	for _, text := range []string{`<section id="conclusion"`, `<section id="bottlenecks">`, `<section id="results">`, `<section id="failures">`,
		`<section id="warnings">`, `<section id="charts">`, `<section id="checks">`, `<section id="environment">`} {
		i := strings.Index(page, text)
		testenv.Need(t, i > last, "%s is at %d, after %d", text, i, last)
		last = i
	}
	results := page[strings.Index(page, `<section id="results">`):strings.Index(page, `<section id="failures">`)]
	before, _, folded := strings.Cut(results, `<details class="folded"><summary>Notes</summary>`)
	testenv.Check(t, folded && !strings.Contains(before, `<p class="note">`), "notes of the results are not folded")
}

// TestFailuresKeepBothEndsOfTheLog: a log of any length is bounded, with its first and last lines;
// one that was kept whole by the run stays whole.
func TestFailuresKeepBothEndsOfTheLog(t *testing.T) {
	of := func(n int) []string {
		var lines []bench.LogLine
		for i := range n {
			lines = append(lines, bench.LogLine{Text: fmt.Sprint(i)})
		}
		c := column{trial: &bench.TrialResult{State: bench.TrialFailed, Failure: "exited", LastLog: lines}}
		return failures(layout{columns: []column{c}})[0].LastLog
	}
	got := of(5000)
	testenv.Check(t, len(got) == maxLog && got[0] == "0" && got[maxLog-1] == "4999", "%q", got)
	// What a run keeps: 30 lines, and two that say how many were left out.
	got = of(32)
	testenv.Check(t, len(got) == 32 && slices.Contains(got, "15"), "%q", got)
}

// Page and Markdown name the limit of each contender, and have no tiers, where limits differ.
func TestLimitsOfEachContender(t *testing.T) {
	run, trials := small()
	whole := run.Profile.Contenders
	run.Profile.Limits = bench.Limits{CPUs: 1, Memory: 512 << 20}
	run.Profile.Settings = []bench.Settings{{Selection: whole[0], Limits: bench.Limits{CPUs: .5, Memory: 256 << 20}}}
	testenv.Contains(t, string(render(t, run, trials)), "under 0.5 CPUs, 256 MiB", "; "+whole[0].String()+": 0.5 CPUs, 256 MiB")
	testenv.Contains(t, markdown(t, run, trials), "under 0.5 CPUs, 256 MiB")
}
