package profile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// What follows links and redirects is read, written and read back unchanged.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "paths.csv"), []byte("path,rest\n/items/1?q=a%20b,x/y%2Fz\n"), 0o600))
	p, err := profile.Parse(filepath.Join(dir, "p.yaml"), []byte(`
contenders: [a]
follow: 3
variables: {log: {file: paths.csv}}
setup: [{post: /login, save: {home: {header: Location, regex: "/[a-z]+$"}}}]
requests:
  - {get: "{log.path}"}
  - {get: "/{log.rest:raw}?x={log.rest:raw}", follow: true}
  - {get: "{home}", follow: false}
sessions:
  - name: s
    requests:
      - {get: /list, save: {one: "items[*].id", next: {json: links.next, regex: .+}}}
      - {get: "{next}/{one}", follow: 20, expect: {status: 302}}
steps: [1]
`))
	testenv.OK(t, err)
	for i, want := range []int{3, 10, 0, 3, 20} {
		if got := p.Requests[i].Follow; got != want {
			t.Errorf("%s follows %d, want %d", p.Requests[i].Name, got, want)
		}
	}
	saves := append(p.Setup[0].Save, p.Requests[3].Save...)
	for i, want := range []bench.Save{
		{Name: "home", From: bench.FromHeader, Of: "Location", Regex: "/[a-z]+$"}, {Name: "one", From: bench.FromJSON, Of: "items[*].id"},
		{Name: "next", From: bench.FromJSON, Of: "links.next", Regex: ".+"},
	} {
		if saves[i] != want {
			t.Errorf("%+v, want %+v", saves[i], want)
		}
	}
	roundTrip(t, p)
}
