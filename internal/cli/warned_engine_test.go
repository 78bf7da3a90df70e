//go:build acceptance && engine

package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// TestAWarningIsPrintedOnce runs against a store with fewer cities than the profile's data.
func TestAWarningIsPrintedOnce(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), bench.StoreSpec{Kind: bench.StoreEmbedded}, store.Options{})
	testenv.OK(t, err)
	defer s.Close()
	data, err := dataset.Generated(200, 12, 1)
	testenv.OK(t, err)
	testenv.OK(t, s.Fill(t.Context(), data, nil))
	for _, how := range []string{"--headless", "--quiet"} {
		cmd := exec.Command(testenv.Locbench(t), "run", how, "--runtime", "process", "--elastic", s.URL(), "--no-checks", "--connections", "1", "--duration", "200ms", "-o", "out")
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		if n := strings.Count(string(out), `index "city" has 200 documents`); cmd.ProcessState.ExitCode() != console.ExitContender || n != 1 { // missing cities are unexpected responses
			t.Errorf("%s: %v, reported %d times:\n%s", how, err, n, out)
		}
	}
}
