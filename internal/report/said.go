package report

import (
	"bytes"
	"slices"

	"locbench/internal/summary"
)

type saying struct {
	Title     string
	Class     string // of the list, in style.css
	Folded    bool   // until somebody asks for it
	Sentences []string
}

// toldLoudly tells of a rule of package summary that loud warnings have its sentences already.
func toldLoudly(rule string) bool { return rule == "not whole" || rule == "limits not enforced" }

// sayings are what the figures support, in words, the most important first.
func sayings(figures summary.Figures) []saying {
	parts := []struct {
		saying
		kinds []summary.Kind
	}{
		{saying{Title: "Who is ahead", Class: "claims"}, []summary.Kind{summary.Claim, summary.Open}},
		{saying{Title: "What failed", Class: "failures"}, []summary.Kind{summary.Failure}},
		{saying{Title: "What bound whom", Class: "bounds", Folded: true}, []summary.Kind{summary.Bound}},
		{saying{Title: "In doubt", Class: "doubts", Folded: true}, []summary.Kind{summary.Doubt}},
	}
	for _, s := range figures.Sentences() {
		if toldLoudly(s.Rule) {
			continue
		}
		for i := range parts {
			if slices.Contains(parts[i].kinds, s.Kind) {
				parts[i].Sentences = append(parts[i].Sentences, cleanText(s.Text))
			}
		}
	}
	var all []saying
	for _, p := range parts {
		if len(p.Sentences) > 0 {
			all = append(all, p.saying)
		}
	}
	return all
}

func markdownSayings(b *bytes.Buffer, all []saying) {
	for _, s := range all {
		b.WriteString("\n**" + s.Title + "**\n\n")
		for _, text := range s.Sentences {
			b.WriteString("- " + escape(text) + "\n")
		}
	}
}
