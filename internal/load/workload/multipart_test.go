package workload

import (
	"slices"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// A boundary that is in a file is replaced; it is the same for the same fields.
func TestBoundary(t *testing.T) {
	fields := []bench.Field{{Name: "f", File: "f"}}
	made := func(file string, contained ...string) string {
		return newBoundary(fields, map[string][]byte{"f": []byte(file)}, func(b string) bool { return slices.Contains(contained, b) })
	}
	first := made("a")
	if other := made("b"); first != made("a") || other == first || made("a", first) == first || len(first) != 40 {
		t.Errorf("boundaries %q and %q, then %q", first, other, made("a", first))
	}
}
