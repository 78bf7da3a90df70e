package testenv

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

// Update is the flag -update: golden files are written instead of compared.
var Update = flag.Bool("update", false, "write the golden files; review the changes")

// Golden compares got with a golden file, or writes the file with -update.
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
		t.Errorf("%s differs (go test -update writes it; review the change); got:\n%s\nwant:\n%s", file, got, want)
	}
}
