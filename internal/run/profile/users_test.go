package profile_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// TestUsers: a profile of the user's own service is read into the requests of the load, and written
// and read back unchanged.
func TestUsers(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv": "name,password\nada,x\n", "order.json": "{}", "order.schema.json": `{"type":"object","required":["id"],"properties":{"id":{"minimum":1.5}}}`,
	} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p, err := profile.Parse(filepath.Join(dir, "p.yaml"), []byte(`
contenders: [a]
header: {Authorization: "Bearer {token}", Accept: application/json}
variables:
  item: {from: 1, to: 10000, draw: zipf}
  word: {list: [lamp, 7, true]}
  user: {file: users.csv, draw: once}
  name: {file: users.csv, column: name}
  key: uuid
  code: {string: 9}
  now: now
setup:
  - {post: /login, json: {user: me, age: 7, list: [1, "a{{b}}"]}, header: {Accept: text/html}, save: {token: data.token, seen: {header: Date}}}
  - {put: /truncate}
requests:
  - {get: "/items/{item}", share: 70%, timeout: 2s}
  - {name: find, post: "/find", share: 12.5%, form: {q: "{word} &", page: 1}, expect: {status: [200, 404], at: {a: 1}}}
  - {patch: /raw, share: 7.5%, body: "{key}{now}{code}", expect: {schema: order.schema.json}}
sessions:
  - name: buy
    share: 10%
    requests:
      - {post: /carts, json: {user: "{user.name}", item: "{item:number}"}, save: {cart: id, all: {regex: 'x="(.)"'}}}
      - {put: "/carts/{cart}?n={name}", think: 500ms..2s, file: order.json}
      - {delete: "/carts/{cart}", think: 1s}
teardown:
  - {method: OPTIONS, path: /end}
steps: [1, {connections: 2, request: buy}]
`))
	testenv.OK(t, err)
	if p.Store.Kind != bench.StoreNone || p.CompareBodies != .01 || p.UsesData() || len(p.Setup) != 2 || len(p.Every()) != 9 {
		t.Errorf("%+v", p)
	}
	var weights []int
	for _, r := range p.Requests {
		weights = append(weights, r.Weight)
	}
	if want := []int{28, 5, 3, 0, 0, 0}; !reflect.DeepEqual(weights, want) || p.Sessions[0].Weight != 4 {
		t.Errorf("weights %v and %d, want %v and 4", weights, p.Sessions[0].Weight, want)
	}
	auth := map[string]string{"Authorization": "Bearer {token}", "Accept": "application/json"}
	wants := []bench.Request{
		{Name: "POST /login", Weight: 1, Method: "POST", Path: "/login", Header: map[string]string{"Accept": "text/html"}, Encoding: bench.JSONBody,
			Body: `{"user":"me","age":7,"list":[1,"a{{b}}"]}`, ExpectStatus: 200,
			Save: []bench.Save{{Name: "token", From: bench.FromJSON, Of: "data.token"}, {Name: "seen", From: bench.FromHeader, Of: "Date"}}},
		{Name: "GET /items/{item}", Weight: 28, Method: "GET", Path: "/items/{item}", Header: auth, Timeout: 2 * time.Second, ExpectStatus: 200},
		{Name: "find", Weight: 5, Method: "POST", Path: "/find", Header: auth, Encoding: bench.FormBody, Body: "q={word}+%26&page=1",
			ExpectStatus: 200, MoreStatuses: []int{404}, Expect: map[string]any{"at": map[string]any{"a": int64(1)}}},
		{Name: "PATCH /raw", Weight: 3, Method: "PATCH", Path: "/raw", Header: auth, Body: "{key}{now}{code}", ExpectStatus: 200, Expect: map[string]any{
			"schema": map[string]any{"type": "object", "required": []any{"id"}, "properties": map[string]any{"id": map[string]any{"minimum": 1.5}}}}},
		{Name: "buy: PUT /carts/{cart}", Session: "buy", Method: "PUT", Path: "/carts/{cart}?n={name}", Header: auth, BodyFile: filepath.Join(dir, "order.json"),
			ExpectStatus: 200, Think: bench.Think{Min: 500 * time.Millisecond, Max: 2 * time.Second}},
	}
	for i, got := range []bench.Request{p.Setup[0], p.Requests[0], p.Requests[1], p.Requests[2], p.Requests[4]} {
		if !reflect.DeepEqual(got, wants[i]) {
			t.Errorf("got  %+v\nwant %+v", got, wants[i])
		}
	}
	variables := []bench.Variable{
		{Name: "item", Range: &bench.Range{From: 1, To: 10000}, Draw: bench.DrawZipf, Exponent: 1.1}, {Name: "word", List: []string{"lamp", "7", "true"}, Draw: bench.DrawRandom},
		{Name: "user", File: filepath.Join(dir, "users.csv"), Draw: bench.DrawOnce}, {Name: "name", File: filepath.Join(dir, "users.csv"), Column: "name", Draw: bench.DrawRandom},
		{Name: "key", Make: bench.GenerateUUID}, {Name: "code", Make: bench.GenerateString, Length: 9}, {Name: "now", Make: bench.GenerateNow},
	}
	if !reflect.DeepEqual(p.Variables, variables) {
		t.Errorf("got  %+v\nwant %+v", p.Variables, variables)
	}
	roundTrip(t, p)
}
