package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

// A profile that is shown is one: it is read again, and shown the same. Where a secret comes from
// and goes to is shown; the secret is not.
func TestProfilesShow(t *testing.T) {
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
	dir := folderOf(t, map[string]string{"p.yaml": text, "users.csv": "name,password\nada,x\n", "a.png": "x"})
	first := says(t, 0, "password: data.password…Cookie: sid={sid}; k={password}…token=(.*)…token: uuid…Set-Cookie: sid={token}…"+
		"Authorization: Bearer {mine}…session_token: items[*].token", "profiles", "show", filepath.Join(dir, "p.yaml"))
	lacks(t, "show", first, "-of-mine", "123456")
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "again.yaml"), []byte(first), 0o600))
	testenv.Equal(t, says(t, 0, "", "profiles", "show", filepath.Join(dir, "again.yaml")), first)
}
