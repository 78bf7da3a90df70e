package cli

import (
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/results"
	"github.com/locbench/locbench/internal/run/capacity"
	"github.com/locbench/locbench/internal/run/capacity/capacitytest"
	"github.com/locbench/locbench/internal/testenv"
)

// The folder of a search with several limits has no run: its reports are those of the search.
func TestReport_Search(t *testing.T) {
	dir, page := t.TempDir(), filepath.Join(t.TempDir(), "x.html")
	testenv.OK(t, results.WriteJSON(filepath.Join(dir, capacity.File), capacitytest.Record(capacitytest.Several()...)))
	says(t, 0, "Capacity of go-nethttp: Run go-nethttp with 1 CPU", "report", dir, "--format", "md")
	says(t, 0, page, "report", dir, "--out", page)
	says(t, 1, results.RunFile, "report", dir, "--format", "csv")
}
