package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/run/profile"
)

// flow reads a profile next to a file with users and a picture.
func flow(t *testing.T, text string) (bench.Profile, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"users.csv": "name,password\nada,x\n", "lamp.png": "{name}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return profile.Parse(filepath.Join(dir, "p.yaml"), []byte("contenders: [a]\n"+text))
}

// reread is flow of a valid profile, which is written and read back unchanged.
func reread(t *testing.T, text string) bench.Profile {
	t.Helper()
	p, err := flow(t, text)
	if err != nil {
		t.Fatal(err)
	}
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
	refused(t, strings.Replace(session, "%s", "", 1)+"requests: [{get: '/{token}'}]\nsteps: [1]", "no variable \"token\" here")
	refused(t, "sessions: [{name: user, setup: [{name: me, get: /a}], requests: [{name: me, get: /me}]}]\nsteps: [1]",
		"duplicate request \"me\"")
}
