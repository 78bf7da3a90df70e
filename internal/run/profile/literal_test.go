package profile

import (
	"strings"
	"testing"
)

// Braces around the name of a variable that send a text are a warning: it says what is sent, and
// what to write. Any other braces are not.
func TestLiteralBraces(t *testing.T) {
	const begin = "contenders: [a]\nsteps: [1]\nvariables: {user: {list: [ada]}, row: {list: [x]}}\n"
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"json":    {`requests: [{name: a, post: /, json: {u: "{{user}}"}}]`, []string{"request \"a\": `{{user}}` in `json` is sent as `{user}`; for the value of the variable write `{user}`"}},
		"spaced":  {`requests: [{name: a, post: /, json: {u: "{{ user }}"}}]`, []string{"`{{ user }}` in `json` is sent as `{{ user }}`; for the value"}},
		"single":  {`requests: [{name: a, post: /, json: {u: "{ user }"}}]`, []string{"`{ user }` in `json` is sent as `{ user }`; for"}},
		"typed":   {`requests: [{name: a, post: /, json: {u: "{{user:number}}"}}]`, []string{"`{{user:number}}` in `json` is sent as `{user:number}`; for the value of the variable write `{user:number}`"}},
		"form":    {`requests: [{name: a, post: /, form: {u: "{{user}}", v: "{{ user }}"}}]`, []string{"`{{user}}` in `form` is sent as `{user}`", "`{{ user }}` in `form`"}},
		"fields":  {`requests: [{name: a, post: /, multipart: {u: "{{user}}"}}]`, []string{"`{{user}}` in `multipart` is sent as `{user}`"}},
		"body":    {`requests: [{name: a, post: /, body: "u={{user}}"}]`, []string{"`{{user}}` in `body`"}},
		"header":  {`requests: [{name: a, get: /, header: {X-U: "{{user}}"}}]`, []string{"`{{user}}` in header X-U is sent as"}},
		"expect":  {`requests: [{name: a, get: /, expect: {contains: "{{user}}"}}]`, []string{"`{{user}}` in `expect` is the text `{user}`; for the value of the variable write `{user}`"}},
		"saved":   {"requests: [{get: /}]\nsessions: [{name: s, requests: [{name: a, get: /, save: {bid: id}}, {name: b, post: /, body: '{{bid}}'}]}]", []string{"request \"b\": `{{bid}}`"}},
		"setup":   {"requests: [{name: r, get: /, header: {A: 'Bearer {{token}}'}}]\nsetup: [{name: a, get: /, save: {token: id}}]", []string{"request \"r\": `{{token}}`"}},
		"once":    {`requests: [{name: a, post: /, json: {u: "{{user}}", v: "{{user}}", w: "{user}"}}]`, []string{"`{{user}}`"}},
		"shared":  {"header: {X: '{{user}}'}\nrequests: [{name: a, get: /}, {name: b, get: /b}]", []string{"`{{user}}` in header X is sent"}},
		"others":  {`requests: [{name: a, post: /, json: {u: "{{other}} { } {{}} {{ other }}", o: {user: 1}}, header: {A: "$${user}"}}]`, nil},
		"places":  {`requests: [{name: a, post: "/{user}", json: {u: "{user}", list: ["{row}"]}}]`, nil},
		"graphql": {`requests: [{name: a, post: "/", json: {query: "{ user { name } }"}}]`, nil},
	} {
		p, err := Parse("p.yaml", []byte(begin+tt.text+"\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := LiteralBraces(p)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}
