package values

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// What is sent unescaped in a path is checked before the load, with the line of the file.
func TestPathsFromFiles(t *testing.T) {
	for _, c := range []struct{ path, value, wrong string }{
		{"/{p:raw}", "items/1?q=a%20b&x=%zz", ""}, {"{p}", "/items/1", ""}, {"/{p}", "a b", ""}, {"/x?{p:raw}", "q=ž", "is not a part of a path"},
		{"/{p:raw}", "a b", "p.csv:3: "}, {"/{p:raw}", "a#b", "is not a part of a path"}, {"/{p:raw}", "a\x7f", "is not a part of a path"},
		{"{p}", "items/1", "must start with a slash"}, {"{p}", "http://h/x", "must start with a slash"}, {"{p}/more", "/a b", "is not a part of a path"},
		{"{p}", "", "p.csv:3: no value"},
	} {
		file := filepath.Join(t.TempDir(), "p.csv")
		testenv.OK(t, os.WriteFile(file, []byte("path,n\n/ok,1\n\""+c.value+"\",2\n"), 0o600))
		_, err := OpenData([]bench.Variable{{Name: "p", File: file, Column: "path"}}, []bench.Request{{Name: "r", Path: c.path}})
		testenv.Fails(t, err, c.wrong)
	}
}
