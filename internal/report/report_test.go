package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"locbench/internal/analysis"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

func TestMarkdown(t *testing.T) {
	run, legs := fixture()
	var out bytes.Buffer
	if err := Markdown(&out, analysis.Of(run, legs), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.md", out.Bytes())
}

func TestLibraryIsTheOneNamed(t *testing.T) {
	js, err := library()
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(js); hex.EncodeToString(sum[:]) != librarySHA256 {
		t.Errorf("assets/echarts.min.js.gz has digest %x", sum)
	}
	for _, end := range []string{"</script", "<!--"} {
		if bytes.Contains(bytes.ToLower(js), []byte(end)) {
			t.Errorf("the library holds %q: it cannot stand in a script element", end)
		}
	}
}
