package report

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// attack is the text in every string of a hostile run. Where it is not escaped, it breaks out of
// elements, attributes, scripts, Markdown, ECharts' rich text and HTML tooltips, and go-echarts'
// marks for functions.
const attack = "</script></style></title><script>pwned=1</script><img src=http://evil.example/x.png onerror=pwned=1>\"'><svg onload=pwned=1>" +
	"{marker|x}{{.}}${pwned=1}__f__function(){pwned=1}__f__`|[x](javascript:pwned=1)\u2028\u202e\x1b[31m\x00&lt;b&gt;"

// poison sets every string in v to the attack, also keys of maps. n makes the strings differ, so
// trials and steps stay different.
func poison(v any, n *int) {
	testenv.Each(v, func(_ string, v reflect.Value) {
		if v.Kind() == reflect.String {
			*n++
			v.SetString(fmt.Sprintf("%s %d", attack, *n))
		}
	})
}

// hostile returns the fixture with the attack in every string that does not decide how it is read
// (histograms, kinds of checks).
func hostile() (bench.Run, []bench.TrialResult) {
	run, trials := fixture()
	n := 0
	poison(&run, &n)
	for i := range trials {
		clean := trials[i]
		clean.Checks = append([]bench.CheckResult(nil), trials[i].Checks...)
		var latencies []bench.Latencies
		for _, s := range trials[i].Steps {
			latencies = append(latencies, s.Load.Latency)
		}
		poison(&trials[i], &n)
		for j := range trials[i].Steps {
			trials[i].Steps[j].Load.Latency = latencies[j]
			if i < 3 {
				trials[i].Steps[j].Aborted = "" // no median includes a step that stopped early
			}
		}
		// Rounds of a contender keep one name, and statuses their meaning, so every table and chart
		// is filled.
		trials[i].Trial.Contender, trials[i].Trial.Variant = clean.Trial.Contender+attack, ""
		for j := range trials[i].Checks {
			trials[i].Checks[j].Status = clean.Checks[j].Status
		}
	}
	// A warning and a failure of every kind.
	trials[0].Instance.LimitsEnforced = false
	return run, trials
}

// fetches are attributes that make a browser fetch something.
var fetches = []string{"src", "srcset", "poster", "data", "action", "formaction", "background", "ping"}

// TestHostileTextIsNotMarkup parses the page as a browser does: its elements are the template's,
// for any text, and nothing is fetched. The browser test checks that drawing the charts runs nothing.
func TestHostileTextIsNotMarkup(t *testing.T) {
	run, trials := hostile()
	page := render(t, run, trials[:5])
	doc, err := html.Parse(bytes.NewReader(page))
	testenv.OK(t, err)
	elements, shown := map[string]int{}, 0
	for n := range doc.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && strings.Contains(n.Data, "<script>pwned=1</script>") {
			shown++
		}
		if n.Type != html.ElementNode {
			continue
		}
		elements[n.Data]++
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s has %s", n.Data, a.Key)
			case a.Key == "href" && !strings.HasPrefix(a.Val, "#"), slices.Contains(fetches, a.Key):
				t.Errorf("%s leaves the page: %s=%.100q", n.Data, a.Key, a.Val)
			}
		}
	}
	for element, want := range map[string]int{
		"script": 3, "style": 1, "title": 1, "img": 0, "iframe": 0, "link": 0, "b": 0, "base": 0, "object": 0, "embed": 0,
	} {
		testenv.Equal(t, elements[element], want, element)
	}
	lib, err := library()
	testenv.Check(t, err == nil && bytes.Count(page, lib) == 1, "the library is not in the page, unchanged, once: %v", err)
	_, style, _ := bytes.Cut(page, []byte("<style>"))
	style, _, _ = bytes.Cut(style, []byte("</style>"))
	bad := regexp.MustCompile(`(?i)url\(|@import|expression\(`).Find(style)
	testenv.Check(t, len(style) > 1000 && bad == nil, "the style fetches something, or there is none: %s", bad)
	testenv.Check(t, shown >= 100 && elements["td"] >= 100,
		"the attack is shown as text %d times, in a page of %d cells", shown, elements["td"])
}

// fold matches the lines of HTML that are part of summary.md.
var fold = regexp.MustCompile(`^(<details><summary>[^<\x00\x1b\r\x{2028}\x{202e}]+</summary>|</details>)$`)

func TestHostileMarkdown(t *testing.T) {
	run, trials := hostile()
	out := markdown(t, run, trials)
	neutral(t, out)
}

// neutral fails if text from outside breaks out of its cell, its line or its block.
func neutral(t *testing.T, markdown string) {
	t.Helper()
	fence, bars := "", 0 // bars of the table's first line
	for i, line := range strings.Split(markdown, "\n") {
		if m := fences.FindString(line); m != "" && (fence == "" || strings.TrimSpace(line) == fence) {
			if fence == "" {
				fence = m
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue // a code block shows what it holds
		}
		if fold.MatchString(line) {
			continue
		}
		testenv.Check(t, !strings.ContainsAny(line, "<\x1b\u2028\u202e\x00\r"), "line %d is not neutral: %.120q",
			i+1, line)
		if strings.HasPrefix(line, "|") {
			// The code in tables has no bar and no backslash.
			if n := len(bar.FindAllString(strings.ReplaceAll(line, `\\`, ""), -1)); bars != 0 && n != bars {
				t.Errorf("line %d: a table row with %d bars in a table of %d: %.200q", i+1, n, bars, line)
			} else {
				bars = n
			}
		} else {
			bars = 0
		}
		testenv.Equal(t, active.FindString(strings.ReplaceAll(line, `\\`, "")), "", "line", i+1, line)
		testenv.Check(t, !strings.HasPrefix(line, "- ") || !block.MatchString(line[2:]),
			"line %d: a block begins in a list item: %.120q", i+1, line)
	}
	testenv.Equal(t, fence, "", "a code block does not end")
}

var (
	fences = regexp.MustCompile("^```+")
	bar    = regexp.MustCompile(`(^|[^\\])\|`)
	active = regexp.MustCompile(`(^|[^\\])[\[\]~$]|://|(?i)\bwww\.|@[^\x{200b}]`) // links, strokes, formulas, addresses, calls
	block  = regexp.MustCompile(`^(#|[-+*]( |$)|[0-9]+[.)](\s|$)|-{3}|={2}|>|    )`)
)

// FuzzMarkdown puts the same text into every string of a results file.
func FuzzMarkdown(f *testing.F) {
	for _, text := range []string{attack, "", "# x", "1. x", "+ x", "- - -", "```", "a|b", "\n\n# x\n", "www.evil.example @all $x$ a@b.c", `\`, `\\|`, "\t x", "| --- |", "</details>", "~~~", "https://x"} {
		f.Add(text)
	}
	run, all := fixtureOf(3, 1) // slow, so made once
	f.Fuzz(func(t *testing.T, text string) {
		trials := slices.Clone(all[:2])
		for i := range trials {
			trials[i].Steps, trials[i].Checks = slices.Clone(trials[i].Steps[4:7]), slices.Clone(trials[i].Checks[:3])
		}
		testenv.Each(&run, func(_ string, v reflect.Value) {
			if v.Kind() == reflect.String {
				v.SetString(text)
			}
		})
		poisonNames(trials, text)
		var out bytes.Buffer
		testenv.OK(t, Markdown(&out, analysis.Of(run, trials), Options{}))
		neutral(t, out.String())
	})
}

// poisonNames sets the strings of trials that people read; contenders and steps stay different.
func poisonNames(trials []bench.TrialResult, text string) {
	for i := range trials {
		trial := &trials[i]
		trial.Trial.Contender, trial.Failure = fmt.Sprint(text, trial.Trial.Contender), text
		trial.Service = bench.Service{Name: text, Language: text, Framework: text, Version: text, Tags: []string{text}, Unverified: text}
		trial.State, trial.Warnings, trial.Exit = bench.TrialFailed, bench.Warnings{{Text: text}}, &bench.Exit{Signal: text, Code: 1}
		trial.LastLog = []bench.LogLine{{Stream: text, Text: text}}
		for j := range trial.Checks {
			c := &trial.Checks[j]
			c.Name, c.Group, c.Value, c.Detail, c.Request = fmt.Sprint(text, j), text, text, text, text
		}
		for j := range trial.Steps {
			s := &trial.Steps[j]
			s.Step.Request, s.Warnings, s.Load.Warnings = text, bench.Warnings{{Text: text}}, bench.Warnings{{Text: text}}
			s.Load.Failed = map[bench.ErrorKind]int64{bench.ErrorKind(text): 3}
			s.Thresholds = []bench.ThresholdResult{{Condition: text, Text: text}}
		}
	}
}
