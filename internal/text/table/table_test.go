package table

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/fit"
	"github.com/locbench/locbench/internal/text/safe"
)

func sample() Table {
	t := Table{Columns: []Column{
		{Title: "contender", Left: true}, {Title: "peak"}, {Title: "at", Drop: 1}, {Title: "rounds", Drop: 2},
		{Title: "verdict", Left: true, Wrap: true},
	}}
	t.Add("orders-go", "18,736/s", "64", "6/6", "the same within 3%, as often measured")
	t.Add("日本-node", "4,102/s", "8", "6/6", "").Below = []string{"it failed 3 of 36 checks"}
	return t
}

func TestTable_Text(t *testing.T) {
	var b strings.Builder
	for _, width := range []int{0, 80, 72, 60, 48, 30} {
		fmt.Fprintf(&b, "width %d\n%s\n", width, sample().Text(width))
	}
	testenv.Golden(t, "testdata/text.txt", b.String())
}

func TestTable_Lines(t *testing.T) {
	paint := func(tone Tone, s string) string { return fmt.Sprintf("<%d>%s</>", tone, s) }
	table := Table{Columns: []Column{{Title: "a"}, {Title: "n"}}}
	table.Add("b", "100").Cells[1].Tone = Bad
	testenv.Equal(t, table.Lines(0, paint), []string{"<1>a</>    <1>n</>", "<0>b</>  <3>100</>"})
}

func TestTable_Markdown(t *testing.T) {
	table := sample()
	table.Rows[0].Cells[1] = Cell{Text: "18,736/s", Small: []string{"±2%", "at 64"}, Tone: Strong}
	table.Rows[1].Cells[0].Text = "a|b *c* <script> @me www.x https://y"
	testenv.Golden(t, "testdata/table.md", table.Markdown())
	testenv.Equal(t, Table{Columns: table.Columns}.Markdown(), "")
}

// A row may have fewer cells than the table has columns.
func TestTable_ShortRow(t *testing.T) {
	table := Table{Columns: []Column{{Title: "a"}, {Title: "b"}}}
	table.Add("x")
	testenv.Equal(t, table.Text(0), "a  b\nx\n")
	testenv.Equal(t, table.Markdown(), "| a | b |\n|---|---:|\n| x |  |\n")
	testenv.Check(t, strings.Contains(table.HTML(""), `data-label="b"></td>`), "%s", table.HTML(""))
}

func TestTable_Without(t *testing.T) {
	table := sample()
	fewer := table.Without("at").Without("another")
	testenv.Equal(t, []int{len(table.Columns), len(table.Rows[0].Cells)}, []int{5, 5})
	testenv.Equal(t, fewer.Rows[0].Cells[2].Text, "6/6")
}

// A table with columns that may go, or wrap, is as wide as its output, or has only what must stay.
func FuzzTable_Text(f *testing.F) {
	f.Add("a name", "12", "some words of text", 20)
	f.Fuzz(func(t *testing.T, a, b, c string, width int) {
		if strings.ContainsAny(a+b+c, "\n\x1b") || width < 1 || width > 1000 {
			t.Skip()
		}
		table := Table{Columns: []Column{{Title: "a"}, {Title: "b", Drop: 1}, {Title: "c", Wrap: true, Left: true}}}
		table.Add(a, b, c)
		longest := 0
		for word := range strings.SplitSeq(c, " ") {
			longest = max(longest, fit.Width(word))
		}
		most := max(width, leastHeading+gap+max(leastWrapped, longest))
		for line := range strings.Lines(table.Text(width)) {
			n := fit.Width(strings.TrimSuffix(line, "\n"))
			testenv.Check(t, n <= most, "%q has %d cells, at most %d", line, n, most)
		}
	})
}

func TestTable_HTML(t *testing.T) {
	share, value := .5, 18736.
	table := sample()
	table.Sort = true
	table.Rows[0].Mark = 2
	table.Rows[0].Cells[1] = Cell{Text: "18,736/s", Small: []string{"±2%", "<b>"}, Tone: Strong, Sort: &value, Share: &share}
	table.Rows[1].Cells[0].Text = `<script> "x"`
	for i := range table.Rows[1].Cells {
		table.Rows[1].Cells[i].Tone = Faint
	}
	testenv.Golden(t, "testdata/table.html", table.HTML("first"))
}

// Numbers from outside make no links to issues.
func TestEscape_Issues(t *testing.T) {
	const z = string(safe.ZeroWidth)
	for text, want := range map[string]string{
		"see #77": "see #" + z + "77", "#77": `\#` + z + "77", "o/r#3, GH-77 gh-8": "o/r#" + z + "3, GH-" + z + "77 gh-" + z + "8",
		"C# 7": "C# 7", "NIGH-7": "NIGH-7", "a:b#c": "a:b#c", "x://y": "x&#58;//y",
	} {
		testenv.Equal(t, Escape(text), want, text)
	}
}
