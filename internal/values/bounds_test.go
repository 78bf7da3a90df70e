package values

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// A row is bounded before it is kept, and what is not CSV is not quoted.
func TestRowsThatAreNoRows(t *testing.T) {
	long := strings.Repeat("x", maxRowLine)
	for _, tt := range []struct{ name, file, text, wrong string }{
		{"an endless row", "a.csv", "a,b\n" + long + "x\n", "row 2 is longer than 1 MiB"},
		{"an endless first row", "a.csv", long + long, "row 1 is longer than 1 MiB"},
		{"a quote that is never closed", "a.csv", "a,b\n\"" + strings.Repeat("1,2\n", maxRowLine/4), "row 2 is longer than 1 MiB"},
		{"an endless line of JSON", "a.jsonl", "{\"a\":1}\n{\"a\":\"" + long, "row 2 is longer than 1 MiB"},
		{"not CSV", "a.csv", "root:x:0:0:root:/root:/bin/bash\nb\n", "does not look like names of columns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), tt.file)
			testenv.OK(t, os.WriteFile(file, []byte(tt.text), 0o600))
			_, _, err := readRows(file, []column{{name: "a"}}, 1000)
			if err == nil || !strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), "root") || len(err.Error()) > 300 {
				t.Errorf("%v, want %q", err, tt.wrong)
			}
		})
	}
}

// The values of a file are bounded in rows and bytes, and so is the file of a body.
func TestFilesAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		rows Rows
		fits bool
	}{
		"the last byte":   {Rows{kept: maxKept - endBytes - 1}, true},
		"a byte too many": {Rows{kept: maxKept - endBytes}, false},
		"the last row":    {Rows{rows: maxRows - 1}, true},
		"a row too many":  {Rows{rows: maxRows}, false},
	} {
		c.rows.columns = []string{"a"}
		in := &reader{file: "a.csv", rows: &c.rows, used: []column{{name: "a"}}}
		if err := in.add(7, 0, []byte("x")); (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "a.csv:7: file too large") {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "body")
	for size, fits := range map[int64]bool{maxBodyFile: true, maxBodyFile + 1: false} {
		testenv.OK(t, os.WriteFile(file, nil, 0o600))
		testenv.OK(t, os.Truncate(file, size))
		body, err := readBody(file)
		testenv.Check(t, (err == nil) == fits && (!fits || int64(len(body)) == size), "%d bytes: %v", size, err)
	}
}

func FuzzRowsAreBounded(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "a\n\"", "\ufeffa\n1\n\n", "{\"a\":1e999}\n", "a\r\n\"1\n2\"\r\n", "{\"a\":[[[[", "[{\"a\":1},{\"a\":\"]\"}]", "sep=;\na;b\n1;2\n", "\xff\xfea\x00\n\x001\x00"} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, csv bool) {
		names := []string{"rows.jsonl", "rows.json"}
		if csv {
			names = []string{"rows.csv"}
		}
		for _, name := range names {
			file := filepath.Join(t.TempDir(), name)
			testenv.OK(t, os.WriteFile(file, text, 0o600))
			rows, _, err := readRows(file, []column{{name: "a"}, {name: "a", use: Use{JSON: true}}}, 1000)
			if err == nil && (rows.Len() == 0 || rows.Len() > 1000 || rows.kept > len(text)*3+rows.Len()*endBytes) {
				t.Fatalf("%s: %d rows, %d bytes of %d", name, rows.Len(), rows.kept, len(text))
			}
		}
	})
}
