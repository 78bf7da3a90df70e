package profile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// Every path in a profile is relative to its file, wherever locbench is started.
func TestPathsAreRelativeToTheFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"u.csv": "a\nb\n", "body.bin": "x", "schema.json": `{"type": "object"}`, "targets.txt": "GET http://h/a\n",
	} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(t.TempDir())
	p, err := Parse(filepath.Join(dir, "p.yaml"), []byte(`
services: svc
contenders: [{orders: {dir: before, as: b}}]
needs: {elasticsearch: {cities: {dir: dump}}}
checks: {suites: [mine.yaml, ./more, locations]}
variables: {u: {file: u.csv, column: a}}
requests: [{post: "/{u}", file: body.bin, expect: {schema: schema.json}}]
steps: [1]
`))
	testenv.OK(t, err)
	for _, tt := range []struct{ got, want string }{
		{p.Services, "svc"}, {p.Settings[0].Dir, "before"}, {p.Needs[0].Texts()[0], "dump"}, {p.Checks.Suites[0], "mine.yaml"},
		{p.Checks.Suites[1], "more"}, {p.Variables[0].File, "u.csv"}, {p.Requests[0].BodyFile, "body.bin"},
	} {
		testenv.Equal(t, tt.got, filepath.Join(dir, tt.want), tt.want)
	}
	if p.Checks.Suites[2] != "locations" || p.Requests[0].Expect["schema"] == "schema.json" {
		t.Errorf("%+v, %+v", p.Checks, p.Requests[0].Expect)
	}
	if _, err := Parse(filepath.Join(dir, "p.yaml"), []byte("requests: {targets: targets.txt}\nsteps: [1]\n")); err != nil {
		t.Error(err)
	}
}
