package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

// A profile that is shown is one: it is read again, and shown the same. Where a secret comes from
// and goes to is shown; the secret is not.
func TestShownProfileIsReadAgain(t *testing.T) {
	const text = `
follow: 3
header: {Cookie: "sid={sid}; k={password}", X-Api-Key: "{api_key}", Authorization: "Basic ${BASIC}"}
variables:
  token: uuid
  user: {file: users.csv, draw: in_turn, encoding: latin1}
setup:
  - name: log in
    post: /login
    form: {password: "{user.password}", token: "{token}", secret: hunter2-of-mine}
    save:
      sid: {cookie: sid}
      password: data.password
      api_key: {header: X-Api-Key, regex: "key=([a-z]+)"}
      access_token: {regex: "token=(.*)"}
      refresh_token: {json: data.token, regex: "(.+)"}
sessions:
  - name: s
    pace: 2s
    setup:
      - {post: /in, multipart: {token: "{token}", password: {value: hunter3-of-mine}, secret: {file: a.png, type: image/png}}, save: {mine: {cookie: sid}}}
    requests:
      - get: "/x?token={token}&p={password:raw}"
        header: {Cookie: "", Authorization: "Bearer {mine}"}
        expect: {status: [200, 202], header: {Set-Cookie: "sid={token}"}, json_includes: {token: "{token}"}, present: [password]}
        repeat: {until: {at: {token: done}}, every: 100ms, most: 20}
        save: {session_token: "items[*].token"}
      - {get: "/y?t={session_token}&a={access_token}&r={refresh_token}", json: {password: hunter4-of-mine, pin: 123456}}
steps: [1]
`
	dir := t.TempDir()
	for name, text := range map[string]string{"p.yaml": text, "users.csv": "name,password\nada,x\n", "a.png": "x"} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	code, first := locbench(t, nil, "profiles", "show", filepath.Join(dir, "p.yaml"))
	if code != console.ExitOK {
		t.Fatalf("exit code %d\n%s", code, first)
	}
	for _, part := range []string{
		"password: data.password", "Cookie: sid={sid}; k={password}", "token=(.*)", "token: uuid", "Set-Cookie: sid={token}",
		"Authorization: Bearer {mine}", "session_token: items[*].token",
	} {
		if !strings.Contains(first, part) {
			t.Errorf("%q is not shown", part)
		}
	}
	if strings.Contains(first, "-of-mine") || strings.Contains(first, "123456") {
		t.Error("a secret is shown")
	}
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "again.yaml"), []byte(first), 0o600))
	if code, again := locbench(t, nil, "profiles", "show", filepath.Join(dir, "again.yaml")); code != console.ExitOK || again != first {
		t.Errorf("exit code %d\n%s\nfirst\n%s", code, again, first)
	}
}
