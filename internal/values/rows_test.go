package values

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	testenv.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// openRows reads the columns a and b of a file, which are used as a text and as a number.
func openRows(path string) (*Rows, error) {
	d, err := OpenData([]bench.Variable{{Name: "v", File: path}}, []bench.Request{{Path: "/{v.a}", Body: "{v.b:number}"}})
	return d.Rows[path], err
}

func TestRows_Errors(t *testing.T) {
	testenv.Fails(t, testenv.Err(openRows(filepath.Join(t.TempDir(), "gone.csv"))), "gone.csv")
	header := []bench.Request{{Path: "/", Header: map[string]string{"X": "{v}"}}}
	path := file(t, "r.csv", "a\nok\n\"two\nlines\"\n")
	if _, err := OpenData([]bench.Variable{{Name: "v", File: path, Column: "a"}}, header); err == nil || !strings.Contains(err.Error(), "r.csv:3: column a: a header cannot have a line break") {
		t.Errorf("error %v", err)
	}
}

// Only the used cells of a large file stay in memory, without an object per row, and each is found.
func TestRowsArePacked(t *testing.T) {
	for _, rows := range []int{1, blockRows - 1, blockRows, blockRows + 1, 20*blockRows + 7} {
		var b strings.Builder
		b.WriteString("unused,id,b\n")
		for i := range rows {
			fmt.Fprintf(&b, "%s,%d,%d\n", strings.Repeat("u", 100), i, -i)
		}
		path := file(t, "r.csv", b.String())
		d := testenv.Must(OpenData([]bench.Variable{{Name: "v", File: path}}, []bench.Request{{Path: "/{v.id}/{v.b}"}}))(t)
		r, objects, held := d.Rows[path], 0, 0
		for _, b := range r.blocks {
			objects += 2
			held += cap(b.data) + endBytes*cap(b.ends)
		}
		if limit := r.kept + r.kept/4 + 64; r.Len() != rows || held > limit || objects > 2*(rows/blockRows+1) {
			t.Errorf("%d rows of %d, %d bytes held for %d, in %d objects", r.Len(), rows, held, r.kept, objects)
		}
		for i := range rows {
			got := fmt.Sprintf("%s %s", r.Cell(i, r.Column("id")), r.Cell(i, r.Column("b")))
			testenv.Need(t, got == fmt.Sprintf("%d %d", i, -i), "row %d of %d is %s", i, rows, got)
		}
		testenv.Check(t, len(d.Hashes) == 1 && len(d.Hashes[0].Hash) == 64, "%+v", d.Hashes)
	}
}

// Whatever a file has, reading it ends with rows or with an error that names it.
func FuzzRows(f *testing.F) {
	f.Add(false, "a,b\nx,1\n")
	f.Add(false, "\ufeffb,a\n\"1\n\",\"\"\"\"\n")
	f.Add(true, `{"a":"x","b":1}`)
	f.Add(true, "{\"a\":[1,{}],\"b\":-0}\n\n{}")
	f.Fuzz(func(t *testing.T, lines bool, text string) {
		name := map[bool]string{false: "r.csv", true: "r.jsonl"}[lines]
		rows, err := openRows(file(t, name, text))
		if err != nil {
			testenv.Check(t, strings.Contains(err.Error(), name), "%v", err)
			return
		}
		for i := range rows.Len() {
			b := rows.Cell(i, rows.Column("b"))
			testenv.Check(t, isNumber(b), "%q is not a number", b)
			_ = rows.Cell(i, rows.Column("a"))
		}
	})
}

// BenchmarkRows reads 100,000 rows of five columns, one or three of them used, and reports the
// bytes kept per row.
func BenchmarkRows(b *testing.B) {
	const rows = 100_000
	var csv, lines strings.Builder
	csv.WriteString("id,name,email,uuid,note\n")
	for i := range rows {
		id := fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i)
		fmt.Fprintf(&csv, "%d,user %d,user.%d@example.com,%s,an unused note\n", i, i, i, id)
		fmt.Fprintf(&lines, `{"id":%d,"name":"user %d","email":"user.%d@example.com","uuid":"%s","note":"an unused note"}`+"\n", i, i, i, id)
	}
	for name, text := range map[string]string{"r.csv": csv.String(), "r.jsonl": lines.String()} {
		path := file(b, name, text)
		for columns, place := range map[string]string{"1 column": "/{v.id}", "3 columns": "/{v.id}/{v.email}/{v.uuid}"} {
			b.Run(columns+" of "+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				var before, after runtime.MemStats
				var kept Data
				for range b.N {
					kept = Data{}
					runtime.GC()
					runtime.ReadMemStats(&before)
					var err error
					kept, err = OpenData([]bench.Variable{{Name: "v", File: path}}, []bench.Request{{Path: place}})
					testenv.Need(b, err == nil, "%v", err)
					runtime.GC()
					runtime.ReadMemStats(&after)
				}
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/rows, "heapB/row")
				b.ReportMetric(float64(kept.Rows[path].kept)/rows, "usedB/row")
			})
		}
	}
}

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
		testenv.Fails(t, testenv.Err(OpenData([]bench.Variable{{Name: "p", File: file, Column: "path"}}, []bench.Request{{Name: "r", Path: c.path}})), c.wrong)
	}
}

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
