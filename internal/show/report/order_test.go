package report

import (
	"bytes"
	"strings"
	"testing"

	"locbench/internal/analysis"
)

// TestTheHeadlineComesFirst: figures before sentences about them, and what explains or warnings a
// figure is folded.
func TestTheHeadlineComesFirst(t *testing.T) {
	run, trials := small()
	var b bytes.Buffer
	if err := HTML(&b, analysis.Of(run, trials), Options{}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	at := func(text string) int {
		i := strings.Index(page, text)
		if i < 0 {
			t.Fatalf("no %q in the page", text)
		}
		return i
	}
	if !(at(`<section id="headline">`) < at(`<section id="summary">`) && at(`<section id="summary">`) < at(`id="figures"`)) {
		t.Error("the order is not headline, summary, figures")
	}
	notes := page[at(`<section id="headline">`):at(`<section id="summary">`)]
	if before, _, _ := strings.Cut(notes, `<details class="folded"><summary>What the columns are</summary>`); before == notes || strings.Contains(before, `<p class="note">`) {
		t.Error("notes of the headline are not folded")
	}
	words := page[at(`<section id="summary">`):]
	if at := strings.Index(words, "<h3>Who is ahead</h3>\n<ul"); at < 0 || !strings.Contains(words, `<details class="folded"><summary><h3>What bound whom</h3>`) {
		t.Error("who is ahead is folded, or what bound whom is not")
	}
}
