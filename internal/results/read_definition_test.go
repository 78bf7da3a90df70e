package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Results with the earlier definition of a measured step have a warning; others do not.
func TestReadSaysWhichDefinition(t *testing.T) {
	const kept = "../../testdata/results/cold-warm"
	run, trials, err := Read(kept)
	testenv.Need(t, err == nil && len(trials) != 0, "%v", err)
	if d, ok := trials[0].Definition(); !ok || d != bench.OldDefinition || run.Warnings.Join("|") != bench.OldDefinitionWarning {
		t.Fatalf("definition %q, warnings %q", d, run.Warnings)
	}
	fresh := t.TempDir()
	names, _ := filepath.Glob(kept + "/*.json")
	for _, name := range names {
		data := testenv.Must(os.ReadFile(name))(t)
		data = []byte(strings.ReplaceAll(string(data), `"elapsed_ns":`, `"definition":2,"elapsed_ns":`))
		testenv.OK(t, os.WriteFile(filepath.Join(fresh, filepath.Base(name)), data, 0o600))
	}
	run, trials, err = Read(fresh)
	testenv.OK(t, err)
	if d, _ := trials[0].Definition(); d != bench.Interval || run.Warnings.Has(bench.WarnOldStepDefinition) {
		t.Errorf("definition %q, warnings %q", d, run.Warnings)
	}
}
