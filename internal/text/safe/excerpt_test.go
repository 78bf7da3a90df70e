package safe_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/safe"
)

func TestExcerpt(t *testing.T) {
	begin := time.Unix(1000, 0)
	log := func(n int, from time.Time, name string) (lines []bench.LogLine) {
		for i := range n {
			lines = append(lines, bench.LogLine{At: from, Stream: "stdout", Text: fmt.Sprintf("%s %d", name, i)})
		}
		return lines
	}
	hour := begin.Add(time.Hour)
	for name, tt := range map[string]struct {
		lines []bench.LogLine
		tail  int // lines that the ring still has
		want  string
	}{
		"nothing":             {nil, 20, ""},
		"short":               {log(3, begin, "a"), 20, "a 0,a 1,a 2"},
		"as many as fit":      {log(6, begin, "a"), 20, "a 0,a 1,a 2,a 3,a 4,a 5"},
		"first of the burst":  {log(9, begin, "a"), 20, "a 0,a 1,a 2,a 3,… 3 lines …,a 7,a 8"},
		"ring has forgotten":  {log(50, begin, "a"), 10, "a 0,a 1,… 38 lines …,a 40,a 41,… 6 lines …,a 48,a 49"},
		"ring overlaps":       {log(11, begin, "a"), 10, "a 0,a 1,a 2,a 3,… 5 lines …,a 9,a 10"},
		"long log, then dies": {append(log(50, begin, "a"), log(9, hour, "b")...), 20, "a 0,a 1,… 48 lines …,b 0,b 1,… 5 lines …,b 7,b 8"},
		"short last burst":    {append(log(50, begin, "a"), log(2, hour, "b")...), 20, "a 0,a 1,… 46 lines …,a 48,a 49,b 0,b 1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := safe.Head{Size: 2}
			for _, l := range tt.lines {
				h.Add(l)
			}
			var got []string
			for _, l := range h.Excerpt(slices.Clone(tt.lines[max(0, len(tt.lines)-tt.tail):]), 6) {
				got = append(got, l.Text)
			}
			testenv.Equal(t, strings.Join(got, ","), tt.want)
		})
	}
}

// TestExcerpt_Stderr: what follows on stderr is a burst, however soon, and the other way it is not.
func TestExcerpt_Stderr(t *testing.T) {
	for first, want := range map[string]string{
		"stdout": "a 0,… 49 lines …,b 0,b 1,… 6 lines …,b 8,b 9", "stderr": "a 0,a 1,a 2,… 55 lines …,b 8,b 9",
	} {
		h, last := safe.Head{Size: 1}, map[string]string{"stdout": "stderr", "stderr": "stdout"}[first]
		var lines []bench.LogLine
		for i := range 60 {
			line := bench.LogLine{Stream: first, Text: fmt.Sprint("a ", i)}
			if i >= 50 {
				line = bench.LogLine{Stream: last, Text: fmt.Sprint("b ", i-50)}
			}
			lines = append(lines, line)
			h.Add(line)
		}
		var got []string
		for _, l := range h.Excerpt(lines, 5) {
			got = append(got, l.Text)
		}
		testenv.Equal(t, strings.Join(got, ","), want, first)
	}
}

// TestFirstAndLast: the cause at the beginning and the end both fit a small screen.
func TestFirstAndLast(t *testing.T) {
	line := func(text string, leftOut int) bench.LogLine { return bench.LogLine{Text: text, LeftOut: leftOut} }
	lines := []bench.LogLine{
		line("a", 0), line("b", 0), line("c", 0), line("… 40 lines …", 40), line("d", 0), line("e", 0), line("f", 0),
	}
	for most, want := range map[int]string{
		0: "", 1: "f", 2: "e,f", 3: "a,… 44 lines …,f", 5: "a,… 42 lines …,d,e,f",
		6: "a,b,… 41 lines …,d,e,f", 7: "a,b,c,… 40 lines …,d,e,f", 100: "a,b,c,… 40 lines …,d,e,f",
	} {
		var got []string
		for _, l := range safe.FirstAndLast(lines, most) {
			got = append(got, l.Text)
		}
		testenv.Equal(t, strings.Join(got, ","), want, most)
	}
}

// TestTelling: the cause of a crash, as runtimes print it.
func TestTelling(t *testing.T) {
	at := time.Unix(1000, 0)
	for name, tt := range map[string]struct{ log, want string }{
		"node": {"node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: cannot read config.json\n" +
			"    at loadConfig (/app/x.js:3:9)\n    at Error.main\n\nNode.js v18.19.0", "Error: cannot read config.json"},
		"source": {"x.js:2\nfunction load() { throw new Error(1) }\n\nError: 1\n    at load", "Error: 1"},
		"level":  {"up\n2026-11-27 ERROR no database\nbye", "2026-11-27 ERROR no database"},
		"python": {"Traceback (most recent call last):\n  File \"x.py\", line 1\n    raise ValueError(1)\nValueError: 1", "ValueError: 1"},
		"go":     {"2026/11/27 listening\n2026/11/27 database: connection refused", "2026/11/27 database: connection refused"},
		"panic":  {"panic: oh no\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:3 +0x1d\nexit status 2", "panic: oh no"},
		"blank":  {"warming caches\n\n", "warming caches"},
		"none":   {"", ""},
	} {
		var lines []bench.LogLine
		for text := range strings.SplitSeq(tt.log, "\n") {
			lines = append(lines, bench.LogLine{At: at, Text: text})
		}
		testenv.Equal(t, safe.Telling(lines), tt.want, name)
	}
	old := []bench.LogLine{{At: at, Text: "error of an hour ago"}, {At: at.Add(time.Hour), Text: "killed by user"}, {LeftOut: 3, Text: "x", At: at.Add(time.Hour)}}
	testenv.Equal(t, safe.Telling(old), "killed by user")
}

type named string

func TestTable(t *testing.T) {
	var b bytes.Buffer
	table := safe.NewCSV(&b)
	for _, c := range []struct {
		cell any
		want string
	}{
		{nil, ""}, {"", ""}, {"plain", "plain"}, {"a=b", "a=b"}, {"'quoted", "'quoted"},
		{"=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"}, {"+1", "'+1"}, {"-1", "'-1"}, {"@SUM(A1)", "'@SUM(A1)"},
		{"\t=1", "'\t=1"}, {"\r=1", "'\r=1"}, {" =1", "' =1"}, {"\n=1", "'\n=1"}, {"＝1", "'＝1"}, {"\xff=", "\xff="},
		{named("=1"), "'=1"},
		{-1, "-1"}, {int64(-2), "-2"}, {-0.25, "-0.25"}, {1e21, "1e+21"}, {uint64(3), "3"}, {true, "true"},
	} {
		b.Reset()
		testenv.OK(t, table.Write("x", c.cell))
		testenv.OK(t, table.Flush())
		row, err := csv.NewReader(&b).Read()
		testenv.Check(t, err == nil && row[1] == c.want, "%q: %q, %v; want %q", c.cell, row, err, c.want)
	}
}
