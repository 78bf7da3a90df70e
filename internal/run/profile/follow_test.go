package profile_test

import (
	"os"
	"path/filepath"
	"strings"
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

func TestFollowMistakes(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		`requests: [{get: /, follow: 21}]`:                        "`requests[0].follow` is 21; write `true` for up to 10 redirects in a row, `false`, or a number up to 20",
		`requests: [{get: /, follow: -1}]`:                        "`requests[0].follow` is -1",
		`requests: [{get: "{next}"}]`:                             "`{next}`: no variable \"next\" here",
		`requests: [{get: "{id}"}]`:                               "`{id}` is not a path; start it with `/`: the host is the contender's",
		`requests: [{get: "{n}"}]`:                                "`{n}` is not a path",
		`requests: [{get: "items"}]`:                              "start it with `/`",
		`requests: [{get: "{l}"}]`:                                "\"items\" is not a path: it must start with a slash",
		`requests: [{get: "/{odd:raw}"}]`:                         "\"a b\" is not a part of a path: percent-encode non-ASCII letters, spaces and `#`",
		`requests: [{get: /, header: {X: "{l:raw}"}}]`:            "`{l:raw}` is not in a path; leave `:raw` out",
		`requests: [{post: /, json: {a: "{l:raw}"}}]`:             "`{l:raw}` is not in a path",
		`setup: [{get: /, save: {a: {header: X, regex: "("}}}]`:   "missing closing )",
		`setup: [{get: /, save: {a: {header: X, json: y}}}]`:      "`regex` may be with another one, to take a part of that",
		`setup: [{get: /, save: {a: {regex: x, json: y, b: c}}}]`: "`regex` may be with another one",
		`setup: [{get: /, save: {a: {regexp: x, header: y}}}]`:    "write a path, or one of",
		`setup: [{get: /, save: {a: {cookie: "", regex: "x"}}}]`:  "the cookie needs a name",
	} {
		if !strings.Contains(text, "requests") {
			text += "\nrequests: [{get: /x}]"
		}
		_, err := profile.Parse(filepath.Join(dir, "p.yaml"), []byte("contenders: [a]\nsteps: [1]\n"+text+`
variables: {n: {from: 1, to: 2}, l: {list: [items]}, odd: {list: ["a b"]}}
`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
