package testenv

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

// Update is the flag -update: expected outputs are written again instead of being compared.
var Update = flag.Bool("update", false, "write the expected outputs again; review them by eye")

// Golden compares what a test got with a file, or writes the file with -update.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if *Update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if !bytes.Equal([]byte(got), want) {
		t.Errorf("%s differs (go test -update writes it again; review it by eye); got:\n%s\nwant:\n%s", file, got, want)
	}
}
