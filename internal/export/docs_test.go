package export

import (
	"os"
	"strings"
	"testing"
)

// TestDocsNameEveryFormatAndColumn keeps docs/formats.md whole.
func TestDocsNameEveryFormatAndColumn(t *testing.T) {
	data, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := string(data)
	for _, f := range Formats() {
		if !strings.Contains(docs, "`"+f.Name+"`") {
			t.Errorf("format %s is missing", f.Name)
		}
	}
	for _, c := range Columns() {
		if want := "| `" + c.Name + "` | " + c.Doc + " |"; !strings.Contains(docs, want) {
			t.Errorf("this line is missing: %s", want)
		}
	}
	for _, r := range readers() {
		if !strings.Contains(docs, "| `"+r.name+"` | ") || !strings.Contains(docs, r.lacks) {
			t.Errorf("reader %s, or what it lacks, is missing: %s", r.name, r.lacks)
		}
	}
}
