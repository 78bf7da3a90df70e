package report

import "locbench/internal/bench"

// headline is one row a contender.
type headline struct {
	Columns []string
	Rows    []headlineRow
	Notes   []string
}

type headlineRow struct {
	Label, About string
	Color        int
	Cells        []cell
}

// cell is a figure and, smaller, what goes with it.
type cell struct{ Main, Small string }

func newHeadline(run bench.Run, l layout) headline {
	h := headline{Columns: []string{"Legs"}}
	for _, c := range l.contenders {
		h.Rows = append(h.Rows, headlineRow{Label: c.Label, About: c.About, Color: c.Color(), Cells: []cell{{count(int64(len(c.legs))), ""}}})
	}
	return h
}
