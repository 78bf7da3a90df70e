package secret

import (
	"maps"
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
			testenv.Contains(t, strings.Join(Masker{}.Args(argv), " "), "!"+value)
			for where, svc := range map[string]bench.Service{
				"command":       {Process: &bench.ProcessRecipe{Command: argv}},
				"build":         {Process: &bench.ProcessRecipe{Build: [][]string{{"true"}, argv}}},
				"of the image":  {Docker: &bench.DockerRecipe{Command: argv}},
				"of a variant":  {Variants: []bench.Variant{{Command: argv}}},
				"variant build": {Variants: []bench.Variant{{Build: [][]string{argv}}}},
				"argument":      {Docker: &bench.DockerRecipe{Args: map[string]string{"OPTIONS": strings.Join(argv[1:], " ")}}},
				"variable":      {Env: map[string]string{"OPTIONS": strings.Join(argv[1:], " ")}},
			} {
				testenv.Contains(t, New(Of(bench.Run{}, []bench.Service{svc})...).Text(where+": "+value), "!"+value)
			}
		})
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
	testenv.Contains(t, key.Text("line: kqhkiG9w0BAQEF"), "!kqhk")
}

func TestMapsWithCredentials(t *testing.T) {
	run := bench.Run{Profile: bench.Profile{Requests: []bench.Request{{
		Header: map[string]string{"X-Odd": "Bearer abc"}, Path: "/x?pw=path-secret", Body: `{"password":"body-secret"}`,
	}}}}
	got := (Masker{}).Run(run).Profile.Requests[0]
	testenv.Check(t, got.Header["X-Odd"] == "Bearer ***" && !strings.Contains(got.Path+got.Body, "secret"), "%+v", got)
	values := Of(run, nil)
	for _, want := range []string{"abc", "path-secret", "body-secret"} {
		testenv.Check(t, slices.Contains(values, want), "%s is not among %q", want, values)
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{`password":"x`, "token: |", "a=b=c:d", `\\"pin\\":\\"x\\"`, `"tokens":["a\"]",['b`, "-u a:b", "Bearer 1", "Cookie:\t'", "--token x=y", "://a:b#c@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, x := range find("\x00" + s) {
			testenv.Need(t, x.from > 0 && x.to >= x.from && x.to <= len(s)+1, "%q: %v", s, x)
		}
	})
}

// What is saved from a place of secrets, or used in one, is a secret under any name.
func TestSaved(t *testing.T) {
	save := func(name, from, of string) bench.Request {
		return bench.Request{Save: []bench.Save{{Name: name, From: bench.Source(from), Of: of}}}
	}
	for name, tt := range map[string]struct {
		save, use bench.Request
		secret    bool
	}{
		"of a cookie":              {save: save("x", "cookie", "lang"), secret: true},
		"of Set-Cookie":            {save: save("x", "header", "Set-Cookie"), secret: true},
		"of a secret header":       {save: save("x", "header", "X-Auth-Token"), secret: true},
		"of another header":        {save: save("x", "header", "Location")},
		"of a secret key":          {save: save("sid", "json", "data.access_token"), secret: true},
		"of another key":           {save: save("x", "json", "data.id")},
		"under a secret name":      {save: save("csrf_token", "regex", "x"), secret: true},
		"used in Authorization":    {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Authorization": "Bearer {x}"}}, secret: true},
		"used in Cookie":           {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Cookie": "a=b; c={x}"}}, secret: true},
		"used after Bearer":        {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"X-H": "Bearer {x}"}}, secret: true},
		"used in a query":          {save: save("x", "json", "id"), use: bench.Request{Path: "/a?id=3&access_token={x}"}, secret: true},
		"used in another query":    {save: save("x", "json", "id"), use: bench.Request{Path: "/a?token=3&id={x}"}},
		"used in JSON":             {save: save("x", "json", "id"), use: bench.Request{Body: `{"a":"{id}","password":"{x:json}"}`}, secret: true},
		"used elsewhere in JSON":   {save: save("x", "json", "id"), use: bench.Request{Body: `{"a":"{x}","password":"{y}"}`}},
		"another one in a cookie":  {save: save("x", "json", "id"), use: bench.Request{Header: map[string]string{"Cookie": "c={y}"}}},
		"used in a form":           {save: save("x", "json", "id"), use: bench.Request{Body: "token={x}&a=1"}, secret: true},
		"used in a secret field":   {save: save("x", "json", "id"), use: bench.Request{Multipart: []bench.Field{{Name: "password", Value: "{x}"}}}, secret: true},
		"used in another field":    {save: save("x", "json", "id"), use: bench.Request{Multipart: []bench.Field{{Name: "title", Value: "{x}"}}}},
		"used in a path and plain": {save: save("x", "json", "id"), use: bench.Request{Path: "/token/{x}"}},
	} {
		got := slices.Collect(maps.Keys(Saved([]bench.Request{tt.save, tt.use})))
		testenv.Equal(t, len(got) == 1, tt.secret, name, got)
	}
}
