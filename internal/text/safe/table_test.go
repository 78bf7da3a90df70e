package safe_test

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/safe"
)

type named string

func TestTable(t *testing.T) {
	var b bytes.Buffer
	table := safe.NewTable(&b)
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
