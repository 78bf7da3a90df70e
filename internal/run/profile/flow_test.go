package profile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// flow reads a profile next to a file with users and a picture.
func flow(t *testing.T, text string) (bench.Profile, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"users.csv": "name,password\nada,x\n", "lamp.png": "{name}"} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return profile.Parse(filepath.Join(dir, "p.yaml"), []byte("contenders: [a]\n"+text))
}

// reread is flow of a valid profile, which is written and read back unchanged.
func reread(t *testing.T, text string) bench.Profile {
	t.Helper()
	p, err := flow(t, text)
	testenv.OK(t, err)
	roundTrip(t, p)
	return p
}

// refused checks the mistakes of a profile: each line of the error has one of the texts.
func refused(t *testing.T, text string, want ...string) {
	t.Helper()
	_, err := flow(t, text)
	if err == nil {
		t.Errorf("no mistake in %s", text)
		return
	}
	for _, one := range want {
		if !strings.Contains(err.Error(), one) {
			t.Errorf("%s\nhas not: %s", err, one)
		}
	}
}

// A session has a setup: what that saves is known to the session's requests, and to no other.
func TestSessionSetup(t *testing.T) {
	p := reread(t, `
header: {Authorization: "Bearer {token}"}
variables: {user: {file: users.csv}}
sessions:
  - name: user
    setup:
      - {name: login, post: /login, form: {u: "{user.name}", p: "{user.password}"}, save: {token: token}}
      - {name: profile, get: "/users/{user.name}"}
    requests: [{get: "/me/{user.name}"}]
steps: [1]
`)
	if len(p.Requests) != 3 || !p.Requests[0].SetUp || p.Requests[2].SetUp || p.Requests[0].Session != "user" {
		t.Errorf("%+v", p.Requests)
	}
	if p.Requests[0].Header != nil || p.Requests[1].Header == nil {
		t.Errorf("headers %v, %v: the login cannot have its own token", p.Requests[0].Header, p.Requests[1].Header)
	}
	const session = "sessions: [{name: user, setup: [{post: /login, save: {token: token}%s}], requests: [{get: /me}]}]\n"
	refused(t, strings.Replace(session, "%s", ", success: [200]", 1)+"steps: [1]", "`success` has no effect in setup")
	refused(t, strings.Replace(session, "%s", ", think: 1s", 1)+"steps: [1]", "p.yaml:2", "`think` has no effect in setup")
	refused(t, strings.Replace(session, "%s", ", weight: 2", 1)+"steps: [1]", "no share or weight")
	refused(t, strings.Replace(session, "%s", "", 1)+"requests: [{get: '/{token}'}]\nsteps: [1]", "`{token}` has no value here")
	refused(t, "sessions: [{name: user, setup: [{name: me, get: /a}], requests: [{name: me, get: /me}]}]\nsteps: [1]",
		"duplicate request \"me\"")
}

// A request is repeated until its response is as `until` says.
func TestRepeat(t *testing.T) {
	p := reread(t, `
requests:
  - {name: a, get: /a, expect: {status: [200, 202]}, repeat: {until: {status: 200}}}
  - {name: b, get: /b, repeat: {until: {at: {state: done}, status: 200}, every: 1s, most: 5}}
steps: [1]
`)
	a, b := p.Requests[0].Repeat, p.Requests[1].Repeat
	if a.Every != 100e6 || a.Most != 20 || len(a.Status) != 1 || a.Until != nil || b.Most != 5 || b.Until["at"] == nil {
		t.Errorf("%+v, %+v", a, b)
	}
	refused(t, "requests: [{get: /a, repeat: {until: {status: 201}}}]\nsteps: [1]",
		"p.yaml:2", "201 ends the repetition, but is not an expected status", "expect: {status: [200, 201]}")
	refused(t, "requests: [{get: /a, repeat: {until: {status: 200}}}]\nsteps: [1]",
		"each expected status ends the repetition", "[200, 202]")
	refused(t, "requests: [{get: /a, repeat: {until: {}}}]\nsteps: [1]", "`until` is empty")
	refused(t, "requests: [{get: /a, repeat: {every: 1s}}]\nsteps: [1]", "until")
	refused(t, "requests: [{get: /a, repeat: {until: {json: {}}, most: 1}}]\nsteps: [1]", "most")
	refused(t, "requests: [{get: /a, repeat: {until: {json: {id: '{itme}'}}}}]\nsteps: [1]", "no variable \"itme\"")
}

// A multipart body has fields and files, in order; several may have one name.
func TestMultipart(t *testing.T) {
	p := reread(t, `
variables: {user: {file: users.csv}}
requests:
  - name: up
    post: /upload
    multipart:
      title: "{user.name} {{x}}"
      count: 3
      picture: {file: lamp.png}
      more: [{file: lamp.png, name: "{user.name}.jpg", type: image/jpeg}, {file: lamp.png, name: x.bin}]
      data: {value: '{"a": 1}', type: application/json}
steps: [1]
`)
	got := p.Requests[0].Multipart
	want := []bench.Field{
		{Name: "title", Value: "{user.name} {{x}}"}, {Name: "count", Value: "3"},
		{Name: "picture", File: got[2].File, FileName: "lamp.png", Type: "image/png"},
		{Name: "more", File: got[2].File, FileName: "{user.name}.jpg", Type: "image/jpeg"},
		{Name: "more", File: got[2].File, FileName: "x.bin", Type: "image/png"},
		{Name: "data", Value: `{"a": 1}`, Type: "application/json"},
	}
	if !slices.Equal(got, want) || !filepath.IsAbs(got[2].File) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	const upload = "requests: [{post: /upload, multipart: %s}]\nsteps: [1]"
	for fields, why := range map[string]string{
		"{picture: {file: none.png}}":                  "none.png",
		"{title: '{usre}'}":                            "no variable \"usre\"",
		"{title: a}, body: b":                          "several bodies",
		"{title: a}, header: {content-type: text/a}":   "with the boundary",
		"{title: {file: lamp.png, value: a}}":          "a field is a value or a file",
		"{title: {type: text/plain}}":                  "a field is a value or a file",
		"{title: {value: a, type: text}}":              "is not a media type",
		"{title: {value: a, type: \"a/b\\r\\nX: y\"}}": "is not a media type",
		"[a]": "write names and values",
		"{}":  "write names and values",
	} {
		refused(t, strings.Replace(upload, "%s", fields, 1), "p.yaml:2", why)
	}
}

// A session or a single request has a pace, which neither a rate nor interleaving leaves in force.
func TestPace(t *testing.T) {
	const session = "sessions: [{name: s, pace: 1500ms, requests: [{get: /b%s}]}]\n"
	plain := strings.Replace(session, "%s", "", 1)
	p := reread(t, "requests: [{get: /a, pace: 1s}]\n"+plain+"steps: [1]")
	if p.Requests[0].Pace != 1e9 || p.Sessions[0].Pace != 15e8 || p.Requests[1].Pace != 0 {
		t.Errorf("%+v, %+v", p.Requests, p.Sessions)
	}
	if settled, why := profile.Settle(twice(p), 0); settled.Interleave != 0 || why.Reason != bench.PlainSteps {
		t.Errorf("interleaved by %s, %+v", settled.Interleave, why)
	}
	refused(t, strings.Replace(session, "%s", ", pace: 1s", 1)+"steps: [1]", "a request in a session has no pace")
	refused(t, plain+"steps: [{rate: 10}]", "step 1 (10/s) has a rate", `"s" has a pace`)
	refused(t, plain+"interleave: 100ms\nsteps: [1]", `"s" has a pace, which slices would interrupt`)
	refused(t, plain+"setup: [{get: /c, pace: 1s}]\nsteps: [1]", "`pace` has no effect in setup")
}

// A slice is too short for repetitions: users would give up at the end of each one. The setup of a
// session is before all slices.
func TestRepeatIsNotInterleaved(t *testing.T) {
	const wait = "[{name: wait, get: /b, expect: {status: [200, 202]}, repeat: {until: {status: 200}, every: 100ms}}]"
	const load = "sessions: [{name: s, requests: " + wait + "}]\nsteps: [1]\n"
	settled, why := profile.Settle(twice(reread(t, load)), 0)
	if settled.Interleave != 0 || why.Reason != bench.PlainSteps || !strings.Contains(why.Text, `"wait" is repeated`) {
		t.Errorf("interleaved by %s, %+v", settled.Interleave, why)
	}
	refused(t, load+"interleave: 100ms\n", `"wait" is repeated, which slices would interrupt`, "remove `interleave` or `repeat`")
	setup := "sessions: [{name: s, setup: " + wait + ", requests: [{get: /c}]}]\nsteps: [1]\n"
	if settled, why = profile.Settle(twice(reread(t, setup)), 0); settled.Interleave == 0 {
		t.Errorf("not interleaved: %+v", why)
	}
}

// twice returns p with another contender, interleaved if that is possible.
func twice(p bench.Profile) bench.Profile {
	p.Contenders, p.Interleave = append(p.Contenders, bench.Selection{Contender: "b"}), bench.InterleaveAuto
	return p
}

// Columns of one file are of one row, unless that is unclear.
func TestColumnsOfOneRow(t *testing.T) {
	const get = "requests: [{get: '/{a}'}]\nsteps: [1]\n"
	column := func(name, column, more string) string {
		return name + ": {file: users.csv, column: " + column + more + "}"
	}
	for variables, unclear := range map[string]bool{
		column("a", "name", "") + ", " + column("b", "password", ""):                                              false,
		column("a", "name", "") + ", " + column("b", "name", ""):                                                  false,
		column("a", "name", "") + ", " + column("b", "name", "") + ", " + column("c", "password", ""):             true,
		column("a", "name", "") + ", b: {file: users.csv}":                                                        true,
		column("a", "name", "") + ", b: {file: users.csv, draw: once}":                                            false,
		column("a", "name", "") + ", " + column("b", "name", ", draw: once") + ", " + column("c", "password", ""): false,
	} {
		text := "variables: {" + variables + "}\n" + get
		if unclear {
			refused(t, text, "p.yaml:2", "it is unclear whether of one row", "`{a.name}`")
		} else if _, err := flow(t, text); err != nil {
			t.Errorf("%s: %v", variables, err)
		}
	}
}
