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
