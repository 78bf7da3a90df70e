package safe

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func split(chunks ...[]byte) (got []string) {
	w := NewLineWriter("stdout", func() time.Time { return time.Unix(1, 0) }, func(l bench.LogLine) { got = append(got, l.Text) })
	for _, c := range chunks {
		w.Write(c)
	}
	w.Flush()
	return got
}

func TestLineWriter(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name   string
		chunks []string
		want   []string
	}{
		{"nothing", []string{""}, nil},
		{"lines in one write", []string{"a\nb\n"}, []string{"a", "b"}},
		{"a line in three writes", []string{"a", "b", "c\nd"}, []string{"abc", "d"}},
		{"empty lines and carriage returns", []string{"\n\r\na\r\n"}, []string{"", "", "a"}},
		{"one of a megabyte", []string{long + "\nafter\n"}, []string{long[:MaxLine] + fmt.Sprintf("… (%d more bytes)", 1<<20-MaxLine), "after"}},
		{"a megabyte without an end", []string{long}, []string{long[:MaxLine] + fmt.Sprintf("… (%d more bytes)", 1<<20-MaxLine)}},
		{"exactly the bound", []string{long[:MaxLine] + "\n"}, []string{long[:MaxLine]}},
		{"no UTF-8", []string{"\xff\xfe\x00\x1b[31m\n"}, []string{"\xff\xfe\x00\x1b[31m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var chunks [][]byte
			for _, c := range tt.chunks {
				chunks = append(chunks, []byte(c))
			}
			got := split(chunks...)
			testenv.Need(t, len(got) == len(tt.want), "%d lines, want %d", len(got), len(tt.want))
			for i := range got {
				testenv.Equal(t, got[i], tt.want[i], i)
			}
		})
	}
}

func TestRing(t *testing.T) {
	r := Ring{Size: 3}
	for i := range 9 {
		var want []string
		for j := max(0, i-3); j < i; j++ {
			want = append(want, fmt.Sprint(j))
		}
		var got []string
		for _, l := range r.Lines() {
			got = append(got, l.Text)
		}
		testenv.Equal(t, fmt.Sprint(got), fmt.Sprint(want), i)
		r.Add(bench.LogLine{Text: fmt.Sprint(i)})
	}
}

func FuzzLineWriter(f *testing.F) {
	f.Add([]byte("a\nb"), 1)
	f.Add([]byte("\r\n\n\xff"), 2)
	f.Add(bytes.Repeat([]byte("y"), MaxLine+10), 100)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		if step <= 0 {
			step = 1
		}
		whole := split(data)
		var chunks [][]byte
		for rest := data; len(rest) > 0; {
			n := min(step, len(rest))
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		got := split(chunks...)
		testenv.Need(t, fmt.Sprint(got) == fmt.Sprint(whole), "split by %d: %q, in one: %q", step, got, whole)
		for _, l := range whole {
			testenv.Need(t, len(l) <= MaxLine+64, "a line of %d bytes", len(l))
		}
	})
}
