package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/testenv"
)

// The results come first, then the summary, then the charts. Explanations and caveats are folded.
func TestResultsComeFirst(t *testing.T) {
	run, trials := small()
	var b bytes.Buffer
	testenv.OK(t, HTML(&b, analysis.Of(run, trials), Options{}))
	page := b.String()
	at := func(text string) int {
		i := strings.Index(page, text)
		testenv.Need(t, i >= 0, "no %q in the page", text)
		return i
	}
	if !(at(`<section id="results">`) < at(`<section id="summary">`) && at(`<section id="summary">`) < at(`id="charts"`)) {
		t.Error("the order is not results, summary, charts")
	}
	notes := page[at(`<section id="results">`):at(`<section id="summary">`)]
	if before, _, _ := strings.Cut(notes, `<details class="folded"><summary>About the columns</summary>`); before == notes || strings.Contains(before, `<p class="note">`) {
		t.Error("notes of the results are not folded")
	}
	words := page[at(`<section id="summary">`):]
	if at := strings.Index(words, "<h3>Ranking</h3>\n<ul"); at < 0 || !strings.Contains(words, `<details class="folded"><summary><h3>Bottlenecks</h3>`) {
		t.Error("the ranking is folded, or the bottlenecks are not")
	}
}
