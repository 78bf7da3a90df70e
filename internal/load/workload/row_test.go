package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// Variables that are columns of one file are of one row if they are drawn the same way and are not the
// same column.
func TestColumnsOfOneRow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.csv")
	text := "name,password,city\n"
	for i := range 50 {
		text += fmt.Sprintf("%d,%d,%d\n", i, i, i)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	column := func(name, column string, draw bench.Draw) bench.Variable {
		v := bench.Variable{Name: name, File: file, Column: column, Draw: draw}
		if draw == bench.DrawZipf {
			v.Exponent = 1.1
		}
		return v
	}
	for _, draw := range []bench.Draw{bench.DrawRandom, bench.DrawZipf, bench.DrawInTurn, bench.DrawOnce} {
		for name, c := range map[string]struct {
			variables []bench.Variable
			one       bool
		}{
			"two columns":    {[]bench.Variable{column("a", "name", draw), column("b", "password", draw)}, true},
			"another order":  {[]bench.Variable{column("b", "password", draw), column("a", "name", draw)}, true},
			"the same twice": {[]bench.Variable{column("a", "name", draw), column("b", "name", draw)}, false},
		} {
			t.Run(string(draw)+" "+name, func(t *testing.T) {
				requests := []bench.Request{{Name: "r", Weight: 1, Path: "/{a}-{b}"}}
				data, err := values.OpenData(c.variables, requests)
				if err != nil {
					t.Fatal(err)
				}
				m, err := NewMix(Spec{
					BaseURL: "http://a", Step: bench.Step{Connections: 1, Duration: time.Second}, Requests: requests, Variables: c.variables, Data: data,
				})
				if err != nil {
					t.Fatal(err)
				}
				var u User
				same := 0
				for range 50 {
					if err := m.Begin(&u); err != nil {
						t.Fatal(err)
					}
					_, sent := m.Write(&u, nil)
					path, _, _ := strings.Cut(strings.TrimPrefix(string(sent), "GET /"), " ")
					if a, b, _ := strings.Cut(path, "-"); a == b {
						same++
					}
					u.Done(false)
				}
				cycles := draw == bench.DrawInTurn || draw == bench.DrawOnce // each has its own place in the file
				if (same == 50) != (c.one || cycles) {
					t.Errorf("%d of 50 of one row", same)
				}
			})
		}
	}
}
