package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/dataset"
	"locbench/internal/exit"
	"locbench/internal/seed"
	"locbench/internal/store"
)

// TestAWarningIsToldOnce runs against a store with fewer cities than the profile's data has.
func TestAWarningIsToldOnce(t *testing.T) {
	s, err := store.Open(t.Context(), bench.StoreSpec{Kind: bench.StoreEmbedded}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	data, err := dataset.Generated(200, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seed.Run(t.Context(), seed.Options{URL: s.URL(), Set: data}); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"--headless", "--quiet"} {
		var out, talk bytes.Buffer
		args := []string{"run", how, "--runtime", "process", "--elastic", s.URL(), "--no-checks", "--connections", "1", "--duration", "200ms", "-o", filepath.Join(t.TempDir(), "out")}
		code := Main(t.Context(), Env{Args: args, Stdout: &out, Stderr: &talk, Getenv: func(string) string { return "" }})
		if n := strings.Count(out.String()+talk.String(), `index "city" holds 200 documents`); code != exit.OK || n != 1 {
			t.Errorf("%s: exit code %d, told %d times:\n%s%s", how, code, n, &out, &talk)
		}
	}
}
