package safe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locbench/internal/bench"
	"locbench/internal/text/safe"
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
			if strings.Join(got, ",") != tt.want {
				t.Errorf("%s, want %s", strings.Join(got, ","), tt.want)
			}
		})
	}
}
