package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// parsed returns the need db of the lines below its key, in a folder with schema.sql, rows.sql,
// conf.d and pw.txt, and its mistakes with their lines.
func parsed(t *testing.T, text string) (n bench.NeedSpec, dir string, err error) {
	t.Helper()
	return parsedWith(t, text, nil)
}

// parsedWith is parsed with more files.
func parsedWith(t *testing.T, text string, files map[string]string) (n bench.NeedSpec, dir string, err error) {
	t.Helper()
	dir = testenv.Folder(t, files)
	for name, content := range map[string]string{
		"schema.sql": "create table t(n int)", "rows.sql": "insert", "more.sh": "", "notes.txt": "",
		"Dockerfile": "FROM postgres:17\nCOPY schema.sql /docker-entrypoint-initdb.d/\n",
		"pw.txt":     "from file\n", "pw.txt2": "of another",
		"vars.env": "# variables\nA=1\nTOKEN=of-a-file\nexport B=\"two words\"\nC='x'\n\nD=",
	} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	lines := "db:\n  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
	err = strictyaml.DecodeThen(filepath.Join(dir, "p.yaml"), []byte(lines), new(any), func(v strictyaml.Value) {
		n = Read(v.At("db"))
		n.Name = "db"
		for _, m := range Wrong(n) {
			at := v.Find("db." + m.Path)
			if m.What == "" {
				at.Wrong(m.Hint)
			} else {
				at.Mistake(m.What, m.Hint)
			}
		}
	})
	return n, dir, err
}
