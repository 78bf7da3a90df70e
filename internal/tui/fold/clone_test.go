package fold_test

import (
	"encoding/json"
	"testing"

	"locbench/internal/tui/tuitest"
)

// TestTheSameRecordsGiveTheSameState also where they are folded a second time, or from a copy made
// halfway: what was folded is not changed by it.
func TestTheSameRecordsGiveTheSameState(t *testing.T) {
	for _, name := range []string{"limits", "faults"} {
		records := tuitest.Records(t, name)
		text := func(s any) string {
			data, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		recorded := text(records)
		want := text(apply(records))
		if text(records) != recorded {
			t.Errorf("%s: folding has changed the records", name)
		}
		for _, n := range []int{0, 1, len(records) / 3, len(records) / 2, len(records) - 1} {
			half := apply(records[:n])
			before := text(half)
			copied := half.Clone()
			for _, rec := range records[n:] {
				copied.Apply(rec)
			}
			if text(copied) != want {
				t.Errorf("%s: a copy after %d records comes to another end", name, n)
			}
			if text(half) != before {
				t.Errorf("%s: the original after %d records was changed through its copy", name, n)
			}
			for _, rec := range records[n:] {
				half.Apply(rec)
			}
			if text(half) != want {
				t.Errorf("%s: the original after %d records comes to another end", name, n)
			}
		}
	}
}
