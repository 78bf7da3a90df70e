package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// everyKey is a profile with every kind of key, one a line where a key has others inside.
const everyKey = `name: big
title: Big
description: All keys
contenders:
  - orders
  - orders:
      as: half
      cpus: 0.5
      cpu_set: 2
      memory: 64MiB
      pids: 50
      env: {A: b}
      dir: before
rounds: 6
services: svc
interleave: off
runtime: docker
limits:
  cpus: 1.5
  cpu_set: 4
  memory: 512MiB
  pids: 100
isolation: auto
store:
  kind: embedded
  latency: 2ms
  latency_p99: 20ms
data:
  cities: 1000
  vertices: 60
  seed: 1
header:
  Authorization: "Bearer {token}"
variables:
  item:
    from: 1
    to: 10
  word:
    list: [a, b]
    draw: zipf
    exponent: 1.2
  user:
    file: users.csv
    draw: once
  one:
    file: users.csv
    column: name
  note:
    string: 12
  key: uuid
setup:
  - post: /login
    json:
      user: "{user.name}"
    save:
      token: access_token
requests:
  - name: item
    share: 20%
    get: "/items/{item}?w={word}"
    header:
      X-Key: "{key}"
    expect:
      status: 200
      json_includes:
        id: "{item:number}"
      present: [id]
      count:
        items:
          min: 1
          max: 2
    timeout: 2s
  - name: order
    share: 20%
    method: POST
    path: /orders
    form:
      note: "{note}"
    success: [200]
  - name: put
    share: 20%
    put: /put
    body: "{one}"
  - name: send
    share: 10%
    patch: /send
    file: users.csv
  - name: city
    share: 10%
    get: /city/v1/get?id={id}&language={language}
    ids:
      distribution: zipf
      exponent: 1.2
    languages: [cs]
sessions:
  - name: book
    share: 20%
    requests:
      - name: begin
        post: /book
        json: {a: 1}
        save:
          bid: id
          where:
            header: Location
      - name: pay
        put: /book/{bid}/{where}
        json: {a: 1}
        think: 1s
        share: 100%
teardown:
  - delete: /all
protocol: http/1.1
timeout: 10s
compare_bodies: 1%
max_errors: 1%
max_unexpected: 0.1%
first_requests:
  requests: 10
checks:
  lifecycle: none
  suites: [locations]
step_duration: 10s
steps:
  - 1 warm-up
  - connections: 2
    duration: 5s
    repeat: 2
    warm_up: false
    max_requests: 100
    name: long
    request: item
    keep_requests: 10
  - rate: 100
  - rate:
      from: 1
      to: 10
  - rate:
      mean: 10
      amplitude: 5
      period: 20s
  - arrivals:
      users: 40
      over: 5s
      requests: 2
thresholds:
  - condition: p99<50ms
    from_step: 2
    stop: trial
price_per_vcpu_hour: 0.02
`

// One mistyped key is one mistake, in its line: what follows from it is not reported.
func TestOneMistypedKeyIsOneMistake(t *testing.T) {
	dir := t.TempDir()
	testenv.OK(t, os.WriteFile(filepath.Join(dir, "users.csv"), []byte("name\nada\n"), 0o600))
	file := filepath.Join(dir, "p.yaml")
	whole := strings.Replace(everyKey, "        share: 100%\n", "", 1)
	if _, err := Parse(file, []byte(whole)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(whole, "\n")
	key := regexp.MustCompile(`^( *(?:- )?)([a-z_0-9]+):`)
	tried := 0
	for i, line := range lines {
		m := key.FindStringSubmatch(line)
		if m == nil || ofUser(lines, i) {
			continue
		}
		for how, mistyped := range map[string]string{"swapped": swapped(m[2]), "strange": "zzqqxx"} {
			if mistyped == m[2] {
				continue
			}
			tried++
			wrong := append([]string{}, lines...)
			wrong[i] = m[1] + mistyped + line[len(m[0])-1:]
			_, err := Parse(file, []byte(strings.Join(wrong, "\n")))
			all, _ := err.(strictyaml.Mistakes)
			if len(all) != 1 || all[0].Line != i+1 || !strings.Contains(all[0].What, "unknown key") && !strings.Contains(all[0].What, "is not a part of a response") {
				t.Errorf("%s, line %d, %q as %s:\n%v", how, i+1, strings.TrimSpace(line), mistyped, err)
			}
		}
	}
	if tried < 150 {
		t.Errorf("only %d keys were tried", tried)
	}
}

// ofUser reports whether the key of a line is a name that a user chooses.
func ofUser(lines []string, i int) bool {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " -")) }
	for j := i - 1; j >= 0; j-- {
		if indent(lines[j]) >= indent(lines[i]) {
			continue
		}
		parent, _, _ := strings.Cut(strings.TrimLeft(lines[j], " -"), ":")
		switch parent {
		case "variables", "header", "json", "form", "save", "json_includes", "env", "count":
			return true
		}
		return strings.HasSuffix(strings.TrimSpace(lines[i]), "orders:")
	}
	return false
}

func swapped(key string) string {
	if len(key) < 3 {
		return key + "x"
	}
	b := []byte(key)
	b[1], b[2] = b[2], b[1]
	return string(b)
}

// The mistakes that a user made, each with its own line only.
func TestOneCauseOneLine(t *testing.T) {
	const begin = "contenders: [a]\nsteps: [1]\n"
	for i, tt := range []struct {
		text string
		want string
	}{
		{"sessions:\n  - nam: book\n    requests: [{post: /, save: {bid: id}}, {get: '/{bid}'}]", "unknown key `sessions[0].nam`"},
		{"requests:\n  - {pach: /items, json: {a: 1}}", "unknown key `requests[0].pach`"},
		{"requests:\n  - {get: /, share: 0.15}\n  - {get: /b, share: 85%}", "`requests[0].share` is 0.15; write a share from 0.001% to 100%"},
		{"requests:\n  - {get: /, share: 15%}\n  - {get: /b, shrae: 85%}", "unknown key `requests[1].shrae`"},
		{"requests:\n  - {get: /, share: 15%}\n  - {gt: /b, share: 85%}", "unknown key `requests[1].gt`"},
		{"sessions:\n  - name: s\n    requests: [{get: /, save: {bid: {hedaer: X}}}, {get: '/{bid}'}]", "hedaer"},
		{"sessions:\n  - name: s\n    requests: [{get: /, saev: {bid: id}}, {get: '/{bid}'}, {get: '/x/{bid}'}]", "unknown key `sessions[0].requests[0].saev`"},
		{"requests: [{get: /, share: 85%}]\nsessions: [{name: s, share: 0.15, requests: [{get: /b}]}]", "`sessions[0].share` is 0.15"},
		{"variabels: {item: {from: 1, to: 2}}\nrequests: [{get: '/{item}'}]", "unknown key `variabels`"},
		{"variables: {item: {form: 1, to: 2}}\nrequests: [{get: '/{item}'}]", "unknown key `variables.item.form`"},
		{"variables: {item: [1, 2]}\nrequests: [{get: '/{item}'}]", "`variables.item` is a list"},
		{"setup: [{post: /login, sav: {token: t}}]\nheader: {Authorization: 'Bearer {token}'}\nrequests: [{get: /}, {get: /b}]", "unknown key `setup[0].sav`"},
		{"requests: {get: /}", "targets"},
		{"requets: [{get: /}]", "unknown key `requets`"},
		{"requests: [{get: /, post: /x}]", "several keys give a method or path"},
		{"requests:\n  - get: /\n    name: 5\n  - get: [1]\n", "`requests[1].get` is a list"},
	} {
		_, err := Parse("p.yaml", []byte(begin+tt.text+"\n"))
		all, _ := err.(strictyaml.Mistakes)
		if len(all) != 1 || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%d: %s\n%v\nwant only %s", i, tt.text, err, tt.want)
		}
	}
}

// What does not follow from an unknown key is reported next to it.
func TestOtherMistakesStay(t *testing.T) {
	const begin = "contenders: [a]\nsteps: [1]\n"
	for text, want := range map[string]string{
		"zzqqxx: 1\nrequests: [{get: /, save: {a: b}}]":                              "a single request's `save` is never used",
		"timeuot: 1s\nrequests: [{get: '/{itme}'}]":                                  "no variable \"itme\" here",
		"setup: [{get: /, expect: {statsu: 200}}]\nrequests: [{get: '/{itme}'}]":     "no variable \"itme\" here",
		"limits: {cpu: 1}\nrequests: [{get: x}]":                                     "start it with `/`",
		"variables: {a: {form: 1, to: 2}}\nrequests: [{get: '/{a}'}, {get: '/{b}'}]": "",
		"variables: {a: {from: x, to: 2}}\nrequests: [{get: '/{a}'}, {get: '/{b}'}]": "no variable \"b\" here",
	} {
		_, err := Parse("p.yaml", []byte(begin+text+"\n"))
		all, _ := err.(strictyaml.Mistakes)
		if want == "" && len(all) == 1 {
			continue
		}
		if len(all) != 2 || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s:\n%v\nwant two mistakes, with %s", text, err, want)
		}
	}
}
