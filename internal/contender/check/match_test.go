package check

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// one runs a suite of one check, whose `expect` is given, against a response.
func one(t *testing.T, expect string, h http.HandlerFunc) bench.CheckResult {
	t.Helper()
	suite, err := ParseSuite("suite.yaml", []byte("suite: s\ngroups:\n  g:\n    - name: c\n      request: GET /x\n      expect: "+expect+"\n"))
	testenv.Need(t, err == nil, "%s: %v", expect, err)
	server := httptest.NewServer(h)
	defer server.Close()
	results, err := HTTP(t.Context(), Options{BaseURL: server.URL, Suite: suite})
	testenv.Need(t, err == nil && len(results) == 1, "%d results, %v", len(results), err)
	return results[0]
}

// Every matcher passes and fails, and says what was expected and what was found.
func TestMatchers(t *testing.T) {
	const city = `{"countryIso":"CZ","id":3067696,"isFeatured":true,"name":"Praha","regionName":"Praha"}`
	const list = `{"cities":[{"id":1,"name":"a"},{"id":2,"name":"a"}]}`
	for _, tt := range []struct {
		name, expect string
		status       int
		body         string
		wrong        string // part of the detail; "": passes
	}{
		{"status", `{status: 404}`, 404, `x`, ""},
		{"another status", `{status: 404}`, 200, `secret`, `expected status 404, got 200 with "secret"`},
		{"default status is 200", `{body: x}`, 201, `x`, `expected status 200, got 201`},
		{"one of several statuses", `{status: [400, 404]}`, 400, ``, ""},
		{"none of several statuses", `{status: [400, 404]}`, 500, ``, `expected status 400 or 404, got 500 with an empty body`},

		{"json", `{json: {id: 3067696, name: Praha, countryIso: CZ, isFeatured: true, regionName: Praha}}`, 200, city, ""},
		{"json, another value", `{json: {id: 3067696, name: Brno, countryIso: CZ, isFeatured: true, regionName: Praha}}`, 200, city, `$.name: expected "Brno", got "Praha"`},
		{"json, a key more", `{json: {id: 3067696, name: Praha, countryIso: CZ, isFeatured: true}}`, 200, city, `unexpected key "regionName"`},
		{"json, a key less", `{json: {id: 1, population: 5}}`, 200, `{"id":1}`, `key "population" is missing`},
		{"json, a number as a text", `{json: {id: 1}}`, 200, `{"id":"1"}`, `$.id: expected 1, got "1"`},
		{"json, a whole number as a fraction", `{json: {id: 1}}`, 200, `{"id":1.0}`, ""},
		{"json, exact beyond 64 bits", `{json: {id: 18446744073709551615}}`, 200, `{"id":18446744073709551615.0}`, ""},
		{"json, beyond 64 bits, another", `{json: {id: 18446744073709551615}}`, 200, `{"id":18446744073709551616}`, `expected 18446744073709551615, got`},
		{"json, too large a number", `{json: {id: 1}}`, 200, `{"id":1e999999999}`, `a number that is too large`},
		{"schema, too large a number", `{schema: {properties: {a: {minimum: 0}}}}`, 200, `{"a":1e1000001}`, `a number that is too large`},
		{"a repeated key", `{json: {id: 1}}`, 200, `{"id":2,"id":1}`, `repeats the key "id"`},
		{"schema of two branches", `{schema: {allOf: [{properties: {a: {$ref: "#"}}}, {properties: {a: {$ref: "#"}}}]}}`, 200,
			strings.Repeat(`{"a":`, 150) + "1" + strings.Repeat("}", 150), `takes too long`},
		{"schema of two branches, draft 7", `{schema: {$schema: "http://json-schema.org/draft-07/schema#", definitions: {n: {anyOf: [{properties: {a: {$ref: "#/definitions/n"}}}, {properties: {a: {$ref: "#/definitions/n"}}}]}}, $ref: "#/definitions/n"}}`, 200,
			strings.Repeat(`{"a":`, 150) + `[]` + strings.Repeat("}", 150), ``},
		{"json, a text as a number", `{json: {id: "1"}}`, 200, `{"id":1}`, `expected "1", got 1`},
		{"json, a boolean as a text", `{json: {f: true}}`, 200, `{"f":"true"}`, `expected true, got "true"`},
		{"json, null", `{json: {f: null}}`, 200, `{"f":null}`, ""},
		{"json, not null", `{json: {f: null}}`, 200, `{"f":0}`, `expected null, got 0`},
		{"json, a fraction", `{json: {f: 0.5}}`, 200, `{"f":5e-1}`, ""},
		{"json, another fraction", `{json: {f: 0.5}}`, 200, `{"f":0.51}`, `expected 0.5, got 0.51`},
		{"json, beyond 2^53", `{json: {f: 9007199254740993}}`, 200, `{"f":9007199254740992}`, `expected 9007199254740993`},
		{"json, an object expected", `{json: {f: {a: 1}}}`, 200, `{"f":[1]}`, `expected an object, got [1]`},
		{"json, a list expected", `{json: [1]}`, 200, `{}`, `expected a list, got {}`},
		{"json, order of a list", `{json: [1, 2]}`, 200, `[2,1]`, `$[0]: expected 1, got 2`},
		{"json, length of a list", `{json: [1, 2]}`, 200, `[1,2,3]`, `expected 2 elements [1,2], got 3 [1,2,3]`},
		{"json, no JSON", `{json: {}}`, 200, `<html>`, `expected JSON, got "<html>"`},
		{"json, a text like a number", `{json: {}}`, 200, `404 page not found`, `expected JSON, got "404 page not found", which is text/plain`},
		{"json, JSON and more", `{json: {}}`, 200, `{} {}`, `extra content`},
		{"json, half of it", `{json: {}}`, 200, `{"a":`, `unexpected EOF`},
		{"json, nothing", `{json: {}}`, 200, ``, `expected JSON, got an empty body`},
		{"json_includes", `{json_includes: {name: Praha}}`, 200, city, ""},
		{"json_includes, missing", `{json_includes: {population: 1}}`, 200, city, `key "population" is missing`},
		{"json_includes goes deep", `{json_includes: {cities: [{id: 1}, {id: 2}]}}`, 200, list, ""},

		{"at", `{at: {"cities[1].id": 2}}`, 200, list, ""},
		{"at, another", `{at: {"cities[1].id": 1}}`, 200, list, `cities[1].id: expected 1, got 2`},
		{"at, nothing there", `{at: {"cities[2].id": 1}}`, 200, list, `cities[2].id: not found`},
		{"at, ids in order", `{at: {"cities[*].id": [1, 2]}}`, 200, list, ""},
		{"at, ids in another order", `{at: {"cities[*].id": [2, 1]}}`, 200, list, `cities[*].id[0]: expected 2, got 1`},
		{"at, an empty list", `{at: {"cities[*].id": []}}`, 200, `{"cities":[]}`, ""},
		{"at, a key of text in a list", `{at: {"cities.id": 1}}`, 200, list, `not found`},
		{"every", `{every: {"cities[*].name": a}}`, 200, list, ""},
		{"every, not", `{every: {"cities[*].id": 1}}`, 200, list, `expected 1 everywhere, got 2 at 1`},
		{"every of none", `{every: {"cities[*].id": 1}}`, 200, `{"cities":[]}`, `got an empty list`},
		{"every of no list", `{every: {name: a}}`, 200, city, `name: expected a list, got "Praha"`},
		{"some", `{some: {"cities[*].id": 2}}`, 200, list, ""},
		{"some, several", `{some: {"cities[*].id": [2, 1]}}`, 200, list, ""},
		{"some, not", `{some: {"cities[*].id": [2, 3]}}`, 200, list, `expected to include 3, got [1,2]`},
		{"none", `{none: {"cities[*].id": 3}}`, 200, list, ""},
		{"none, but there", `{none: {"cities[*].id": [3, 2]}}`, 200, list, `unexpected 2 in [1,2]`},
		{"count", `{count: {cities: 2}}`, 200, list, ""},
		{"count, not", `{count: {cities: 3}}`, 200, list, `cities: expected 3 elements, got 2`},
		{"count, at most", `{count: {cities: {max: 1}}}`, 200, list, `expected 0 to 1 elements, got 2`},
		{"count, at least", `{count: {cities: {min: 1}}}`, 200, list, ""},
		{"keys", `{keys: {"cities[*]": [name, id], $: [cities]}}`, 200, list, ""},
		{"keys, one more expected", `{keys: {"cities[*]": [id, name, x]}}`, 200, list, `expected exactly the keys id, name, x, got id, name`},
		{"keys, one fewer expected", `{keys: {"cities[*]": [id]}}`, 200, list, `got id, name`},
		{"keys of nothing", `{keys: {"cities[*]": [id]}}`, 200, `{"cities":[]}`, `got nothing`},
		{"keys of no object", `{keys: {"cities[*].id": [id]}}`, 200, list, `expected an object, got 1`},
		{"present", `{present: [a.b, 'c["d.e"]']}`, 200, `{"a":{"b":null},"c":{"d.e":1}}`, ""},
		{"present, not", `{present: [a.c]}`, 200, `{"a":{"b":null}}`, `expected a.c to exist`},
		{"present, elements of an empty list", `{present: "a[*]"}`, 200, `{"a":[]}`, `expected a[*] to exist`},
		{"present, an alternative", `{present: "x | a"}`, 200, `{"a":1}`, ""},
		{"present, no alternative", `{present: "x | y"}`, 200, `{"a":1}`, `expected x or y to exist`},

		{"message", `{status: 400, message: id}`, 400, `{"message":"id: missing"}`, ""},
		{"message, one of two", `{status: 400, message: [lat, lon]}`, 400, `{"message":"lon"}`, ""},
		{"message, within another word", `{status: 400, message: id}`, 400, `{"message":"invalid idea"}`, `expected a message that names id, got "invalid idea"`},
		{"message missing", `{status: 400, message: id}`, 400, `{"error":"id"}`, "expected an object with a text `message` that names id"},
		{"message no text", `{status: 400, message: id}`, 400, `{"message":["id"]}`, "expected an object with a text `message`"},
		{"message, no JSON", `{status: 400, message: id}`, 400, `Bad Request: id`, `expected JSON`},

		{"header", `{header: {X-Test: ES}}`, 200, ``, ""},
		{"header, another", `{header: {X-Test: no}}`, 200, ``, `header X-Test: expected "no" in it, got "yes"`},
		{"header missing", `{header: {X-None: a}}`, 200, ``, `header X-None: expected "a" in it, got ""`},
		{"contains", `{contains: [b, c]}`, 200, `abcd`, ""},
		{"contains not", `{contains: [b, x]}`, 200, `abcd`, `expected "x" in the body, got "abcd"`},
		{"body", `{body: ""}`, 200, ``, ""},
		{"body, another", `{body: ""}`, 200, `a`, `expected the body "", got "a"`},
		{"max_size", `{max_size: 3B}`, 200, `abc`, ""},
		{"max_size, more", `{max_size: 3B}`, 200, `abcd`, `expected at most 3 bytes, got 4`},
		{"took, at least", `{took: {min: 1m}}`, 200, ``, `expected a response after 1m0s or more, got it after`},
		{"took, within", `{took: {min: 0s, max: 1m}}`, 200, ``, ""},
		{"several wrong at once", `{contains: x, body: y}`, 200, `z`, `expected the body "y", got "z"; expected "x" in the body`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := one(t, tt.expect, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Test", "yes")
				w.WriteHeader(tt.status)
				w.Write([]byte(tt.body))
			})
			switch {
			case tt.wrong == "" && got.Status != bench.CheckPassed:
				t.Errorf("%s: %s", got.Status, got.Detail)
			case tt.wrong != "" && (got.Status != bench.CheckFailed || !strings.Contains(got.Detail, tt.wrong)):
				t.Errorf("%s: %q, want %q in it", got.Status, got.Detail, tt.wrong)
			}
			testenv.Check(t, len(got.Detail) <= maxDetail+10, "detail of %d bytes", len(got.Detail))
		})
	}
}

// TestExpect_Messages has the last value within each bound, whole messages, and what is masked in
// them: what was expected and found under the name of a secret.
func TestExpect_Messages(t *testing.T) {
	for _, tt := range []struct{ name, expect, body, want string }{
		{"four keys too many", `{json: {}}`, `{"a":1,"b":1,"c":1,"d":1,"e":1}`,
			`$: unexpected key "a"; $: unexpected key "b"; $: unexpected key "c"; $: unexpected key "d"`},
		{"four keys too few", `{json: {a: 1, b: 1, c: 1, d: 1, e: 1}}`, `{}`,
			`$: key "a" is missing; $: key "b" is missing; $: key "c" is missing; $: key "d" is missing`},
		{"an empty list", `{count: {a: 0}}`, `{"a":[]}`, ""},
		{"equal bounds of a count", `{count: {a: {min: 2, max: 2}}}`, `{"a":[1]}`, "a: expected 2 elements, got 1"},
		{"equal bounds of a time", `{took: {min: 1s, max: 1s}}`, `{}`, "expected a response after 1s or more, got it after 0s"},
		{"the greatest count", `{count: {a: 2147483647}}`, `{"a":[]}`, "a: expected 2147483647 elements, got 0"},
		{"the first and last status", `{status: [100, 599]}`, ``, ""},
		{"a secret key", `{json_includes: {user: {id: 1, token: "abcdef1"}}}`, `{"user":{"id":2,"token":"uvwxyz2"}}`,
			"$.user.id: expected 1, got 2; $.user.token: expected ***, got ***"},
		{"secrets in a list", `{json: {passwords: ["abcdef1", {x: "abcdef1"}]}}`, `{"passwords":["uvwxyz2",{"x":"uvwxyz2"}]}`,
			"$.passwords[0]: expected ***, got ***; $.passwords[1].x: expected ***, got ***"},
		{"a secret path", `{at: {user.api_key: "abcdef1"}}`, `{"user":{"api_key":"uvwxyz2"}}`, "user.api_key: expected ***, got ***"},
		{"every secret", `{every: {"users[*].token": "abcdef1"}}`, `{"users":[{"token":"uvwxyz2"}]}`,
			"users[*].token: expected *** everywhere, got *** at 0"},
		{"a secret header", `{header: {X-Api-Key: "abcdef1"}}`, `{}`, "header X-Api-Key: expected *** in it, got ***"},
		{"another name", `{json_includes: {name: "abcdef1"}}`, `{"name":"uvwxyz2"}`, `$.name: expected "abcdef1", got "uvwxyz2"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			header := func() http.Header { return http.Header{"X-Api-Key": {"uvwxyz2"}} }
			err := expectation(t, tt.expect).Judge(Sent{Body: []byte(tt.body), Header: header})
			testenv.Equal(t, fmt.Sprint(err), cmp.Or(tt.want, "<nil>"))
		})
	}
}

func TestTook(t *testing.T) {
	for _, tt := range []struct {
		least, most, took time.Duration
		want              string
	}{
		{time.Second, 0, time.Second - 1, "expected a response after 1s or more, got it after 1s"},
		{time.Second, 0, time.Second, "<nil>"},
		{0, 0, time.Hour, "<nil>"},
		{0, 2 * time.Second, 2 * time.Second, "<nil>"},
		{0, 2 * time.Second, 2*time.Second + time.Millisecond, "expected a response within 2s, got it after 2.001s"},
	} {
		testenv.Equal(t, fmt.Sprint(took(tt.least, tt.most)(&response{took: tt.took})), tt.want, tt.least, tt.most)
	}
}

func TestHTTP_Took(t *testing.T) {
	got := one(t, `{took: {max: 20ms}}`, func(http.ResponseWriter, *http.Request) { time.Sleep(50 * time.Millisecond) })
	testenv.Check(t, got.Status == bench.CheckFailed && strings.Contains(got.Detail, "within 20ms, got it after"),
		"%s: %s", got.Status, got.Detail)
}

func TestHTTP_Hostile(t *testing.T) {
	const notRead = "the body was not looked at: longer than 4 MiB"
	long := strings.Repeat("\x00", maxBody+10)
	for _, tt := range []struct {
		name, expect, body string
		want               bench.CheckStatus
		detail             string
	}{
		{"longer than is read", `{contains: x}`, long, bench.CheckSkipped, notRead},
		{"longer than is read, not JSON", `{json: {}}`, long, bench.CheckSkipped, notRead},
		{"longer than is read, its status", `{status: 200}`, long, bench.CheckPassed, ""},
		{"longer than is read and allowed", `{max_size: 4MiB}`, long, bench.CheckFailed, "expected at most 4194304 bytes, got 4194305"},
		{"longer than is read, its header", `{header: {A: b}, json: {}}`, long, bench.CheckFailed, "header A: expected"},
		{"as long as is read", `{max_size: 4MiB, contains: x}`, strings.Repeat("x", maxBody), bench.CheckPassed, ""},
		{"nested deeply", `{json: {}}`, strings.Repeat("[", 1<<20), bench.CheckFailed, "expected JSON, got "},
		{"controls and broken UTF-8", `{body: x}`, "\x1b[31m\xff\x00\u202e", bench.CheckFailed, `expected the body "x", got `},
		{"breaks off", `{status: 200}`, "half", bench.CheckFailed, "response 200 broke off after 4 bytes: unexpected EOF"},
		{"redirects are responses", `{status: 302, header: {Location: /y}}`, "", bench.CheckPassed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := one(t, tt.expect, func(w http.ResponseWriter, r *http.Request) {
				switch tt.body {
				case "":
					http.Redirect(w, r, "/y", http.StatusFound)
				case "half":
					w.Header().Set("Content-Length", "100")
				}
				w.Write([]byte(tt.body))
			})
			if got.Status != tt.want || !strings.HasPrefix(got.Detail, tt.detail) || len(got.Detail) > maxDetail+10 ||
				strings.ContainsAny(got.Detail, "\x1b\x00\u202e") || !utf8.ValidString(got.Detail) {
				t.Errorf("%s: %q, want %s: %s", got.Status, got.Detail, tt.want, tt.detail)
			}
		})
	}
}

// A mistake of locbench or a library while it compares a response makes that one unexpected, and
// ends nothing.
func TestExpect_Panics(t *testing.T) {
	e := Expect{matchers: []matcher{func(*response) error { panic("nil pointer\x1b[2J" + strings.Repeat("x", 1000)) }}}
	err := e.Judge(Sent{Status: 200})
	if err == nil || !strings.HasPrefix(err.Error(), "response cannot be checked: nil pointer") || len(err.Error()) > 300 ||
		strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%v", err)
	}
}

func TestHasWord(t *testing.T) {
	for text, want := range map[string]bool{
		"id": true, "/id:": true, "`id{": true, "@id[": true, "no valid id": true, "": false, "i": false,
		"0id": false, "id9": false, "aid": false, "idz": false, "Aid": false, "idZ": false, "_id": false, "idea": false,
	} {
		testenv.Equal(t, hasWord(text, "id"), want, text)
	}
	testenv.Equal(t, hasWord("a", ""), false)
}
