package secret

import (
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A cookie may be a session or a setting.
func TestIsToken(t *testing.T) {
	for v, want := range map[string]bool{
		"": false, "english": false, "dark-and-wide": false, "1764259200000": false, "a1b2": false,
		"a1b2c3d4e5f6": true, "eyJhbGciOiJIUzI1NiJ9.e30.x": true, "kQzRwXyPabcd": true, "topsecretcookievalue": true,
	} {
		testenv.Equal(t, IsToken(v), want, v)
	}
}

// TestForms has more forms of secrets in texts than TestText.
func TestForms(t *testing.T) {
	for in, want := range map[string]string{
		"Authorization: Bearer abc":               "Authorization: Bearer ***",
		"curl -H 'Authorization: Bearer abc' x":   "curl -H 'Authorization: Bearer ***' x",
		"Cookie: a=1; b=2\nAccept: x":             "Cookie: ***\nAccept: x",
		"X-Custom: Bearer abc":                    "X-Custom: Bearer ***",
		"X-Custom=Basic abc x":                    "X-Custom=Basic *** x",
		"got Bearer eyJhbGciOi.eyJzdWIi":          "got Bearer ***",
		`{"password":"X","user":"me"}`:            `{"password":"***","user":"me"}`,
		`{"password": "a\"b", "n": 1}`:            `{"password": "***", "n": 1}`,
		`{\"password\":\"X\",\"user\":\"me\"}`:    `{\"password\":\"***\",\"user\":\"me\"}`,
		`{'api_key': 'X', 'user': 'me'}`:          `{'api_key': '***', 'user': 'me'}`,
		`{"pin":1234,"x":"y"}`:                    `{"pin":***,"x":"y"}`,
		`{"tokens":["abc","def"],"x":1}`:          `{"tokens":[***],"x":1}`,
		`{"tokens":[["a]"],{"b":[1]}],"x":["y"]}`: `{"tokens":[***],"x":["y"]}`,
		`{\"tokens\":[\"a]\",\"b\"],\"x\":[1]}`:   `{\"tokens\":[***],\"x\":[1]}`,
		`{"tokens":["a\\","]\"]",1],"x":1}`:       `{"tokens":[***],"x":1}`,
		"{\"tokens\": [\n  \"a\",\n  \"b\"\n]}":   `{"tokens": [***]}`,
		"{ tokens: [ 'a]', it's ], x: 1 }":        "{ tokens: [***], x: 1 }",
		"map[Cookie:[a=1; b=2] Accept:[x]]":       "map[Cookie:[***] Accept:[x]]",
		"tokens = [\n\"a\",\n'b']\nx = [\"c\"]":   "tokens = [***]\nx = [\"c\"]",
		`{"tokens":["a",["b]"],"c… (3 more)`:      `{"tokens":[***`,
		`{"tokens":[],"jwt":[null],"keys":["a"]`:  `{"tokens":[],"jwt":[null],"keys":["a"]`,
		`{"credentials":{"user":"a","pwd":"b"}}`:  `{"credentials":{"user":"a","pwd":"***"}}`,
		"password: X":                             "password: ***",
		"  - password: correct horse\n  user: me": "  - password: ***\n  user: me",
		"login with password: X failed":           "login with password: *** failed",
		"{Addr:db Password:hunter2 User:me}":      "{Addr:db Password:*** User:me}",
		"password = X":                            "password = ***",
		`"password" => "X", "a" => 1`:             `"password" => ***, "a" => 1`,
		"+ serve --db-password X --port 80":       "+ serve --db-password *** --port 80",
		"curl -u me:X http://h":                   "curl -u *** http://h",
		"docker run --user 1000:1000 x":           "docker run --user 1000:1000 x",
		"/a?pw=X&sessionid=Y&PHPSESSID=Z&page=2":  "/a?pw=***&sessionid=***&PHPSESSID=***&page=2",
		"-Djavax.net.ssl.keyStorePassword=X -Dx":  "-Djavax.net.ssl.keyStorePassword=*** -Dx",

		"secret.go:12: undefined: x":             "secret.go:12: undefined: x",
		"token::new() at token.rs:3":             "token::new() at token.rs:3",
		"if token == nil":                        "if token == nil",
		"Basic authentication: required":         "Basic authentication: required",
		"the bearer token is missing":            "the bearer token is missing",
		"error: Basic auth failed":               "error: Basic auth failed",
		"pinned to CPU 1; PATH: /bin; spin=1":    "pinned to CPU 1; PATH: /bin; spin=1",
		"compat: true, pattern: x, session: 5":   "compat: true, pattern: x, session: 5",
		"with password: true, token: null":       "with password: true, token: null",
		"2026-11-25T17:00:00Z level=info msg=hi": "2026-11-25T17:00:00Z level=info msg=hi",
		"auth://host/x":                          "auth://host/x",
	} {
		t.Run(in, func(t *testing.T) {
			got := Masker{}.Text(in)
			testenv.Equal(t, got, want, in)
			testenv.Equal(t, (Masker{}).Text(got), got)
		})
	}
}

// TestSecretArgs has command lines: what is masked in them is also known, and masked elsewhere.
func TestSecretArgs(t *testing.T) {
	const value = "hunter2-hunter2"
	for name, argv := range map[string][]string{
		"next word":      {"serve", "--db-password", value},
		"same word":      {"serve", "--db-password=" + value},
		"variable":       {"env", "DB_PW=" + value, "serve"},
		"header":         {"curl", "-H", "Authorization: Bearer " + value},
		"odd header":     {"curl", "-H", "X-Odd: Bearer " + value},
		"JSON":           {"serve", `{"password":"` + value + `"}`},
		"list in JSON":   {"serve", `{"passwords":["x","` + value + `"]}`},
		"YAML":           {"serve", "password: " + value},
		"user":           {"curl", "-u", "me:" + value},
		"user, glued":    {"curl", "-ume:" + value},
		"user, assigned": {"curl", "--user=me:" + value},
		"address":        {"serve", "--db=postgres://me:" + value + "@db/x"},
		"of a shell":     {"sh", "-c", "exec serve --db-password " + value + " --port 80"},
		"query":          {"serve", "http://h/?sessionid=" + value},
		"property":       {"java", "-Ddb.password=" + value, "-jar", "x.jar"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(Masker{}.Args(argv), " "); strings.Contains(got, value) {
				t.Errorf("comes out: %s", got)
			}
			for where, svc := range map[string]bench.Service{
				"command":       {Process: &bench.ProcessRecipe{Command: argv}},
				"build":         {Process: &bench.ProcessRecipe{Build: [][]string{{"true"}, argv}}},
				"of the image":  {Docker: &bench.DockerRecipe{Command: argv}},
				"of a variant":  {Variants: []bench.Variant{{Command: argv}}},
				"variant build": {Variants: []bench.Variant{{Build: [][]string{argv}}}},
				"argument":      {Docker: &bench.DockerRecipe{Args: map[string]string{"OPTIONS": strings.Join(argv[1:], " ")}}},
				"variable":      {Env: map[string]string{"OPTIONS": strings.Join(argv[1:], " ")}},
			} {
				if got := New(Of(bench.Run{}, []bench.Service{svc})...).Text("a log: " + value); strings.Contains(got, value) {
					t.Errorf("%s: %s", where, got)
				}
			}
		})
	}
}

func TestMoreNames(t *testing.T) {
	for _, name := range []string{
		"DB_PW", "DBPW", "dbPw", "PASSCODE", "PIN", "CARD_PIN", "SLACK_WEBHOOK", "WEBHOOK_URL", "SESSION_ID", "sessionId", "sessionid", "JSESSIONID",
		"GITHUB_PAT",
	} {
		if !Name(name) {
			t.Errorf("%s is secret", name)
		}
	}
	for _, name := range []string{
		"PINNED", "SPIN", "COMPAT", "PATH", "PATTERN", "PAT", "PINGS", "CPU_PIN", "SESSION", "SESSION_TIMEOUT", "WEBHOOK_TIMEOUT", "PWM", "UPWARD", "IDS",
	} {
		if Name(name) {
			t.Errorf("%s is not secret", name)
		}
	}
}

// TestShortAndNumbers: short values are part of many words, and numbers part of other numbers.
func TestShortAndNumbers(t *testing.T) {
	m := New("1", "abc", "123456")
	for in, want := range map[string]string{
		"took 11 ms, abcd": "took 11 ms, abcd", "code 123456.": "code ***.", "9123456 1234567": "9123456 1234567", "123456": "***",
	} {
		testenv.Equal(t, m.Text(in), want, in)
	}
	key := New("-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n")
	if got := key.Text("line: kqhkiG9w0BAQEF"); strings.Contains(got, "kqhk") {
		t.Errorf("a line of a key: %s", got)
	}
}

func TestMapsWithCredentials(t *testing.T) {
	run := bench.Run{Profile: bench.Profile{Requests: []bench.Request{{
		Header: map[string]string{"X-Odd": "Bearer abc"}, Path: "/x?pw=path-secret", Body: `{"password":"body-secret"}`,
	}}}}
	if got := (Masker{}).Run(run).Profile.Requests[0]; got.Header["X-Odd"] != Mask || strings.Contains(got.Path+got.Body, "secret") {
		t.Errorf("%+v", got)
	}
	values := Of(run, nil)
	for _, want := range []string{"abc", "path-secret", "body-secret"} {
		if !slices.Contains(values, want) {
			t.Errorf("%s is not among %q", want, values)
		}
	}
}

func FuzzAssigned(f *testing.F) {
	for _, s := range []string{`password":"x`, "token: |", "a=b=c:d", `\\"pin\\":\\"x\\"`, `"tokens":["a\"]",['b`, "-u a:b", "Bearer 1", "Cookie:\t'", "--token x=y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for _, x := range spans(s) {
			if x.from < at || x.to < x.from || x.to > len(s) {
				t.Fatalf("%q: %v", s, spans(s))
			}
			at = x.to
		}
	})
}
