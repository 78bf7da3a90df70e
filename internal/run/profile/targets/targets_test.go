package targets

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// inFolder makes a working folder with the bodies that the files of the tests name.
func inFolder(t testing.TB) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range []string{"new.json", "thing.json", "load/queries/all.json", "load/near.json", "load/both.json", "both.json"} {
		testenv.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
		testenv.OK(t, os.WriteFile(name, []byte(`{"in": "`+name+`"}`), 0o600))
	}
	testenv.OK(t, os.Link("new.json", "load/new.json"))
}

// targetFiles returns the target files of vegeta's manual and of its users, from issues and
// repositories, by their names in testdata/files.
func targetFiles(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/files/*.txt")
	testenv.Need(t, err == nil && len(names) != 0, "no files: %v", err)
	files := map[string]string{}
	for _, name := range names {
		text := testenv.Must(os.ReadFile(name))(t)
		files[strings.TrimSuffix(filepath.Base(name), ".txt")] = string(text)
	}
	return files
}

// Every file is read as vegeta reads it: the same requests, as often.
func TestSameAsVegeta(t *testing.T) {
	for name, text := range targetFiles(t) {
		t.Run(name, func(t *testing.T) {
			inFolder(t)
			compareWithVegeta(t, text)
		})
	}
}

func compareWithVegeta(t *testing.T, text string) {
	t.Helper()
	f := testenv.Must(Parse("targets.txt", "targets.txt", []byte(text)))(t)
	whole := text + "\n" // vegeta drops a last line of JSON without an end
	targeter := vegeta.NewHTTPTargeter(strings.NewReader(whole), nil, nil)
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		targeter = vegeta.NewJSONTargeter(strings.NewReader(whole), nil, nil)
	}
	all := testenv.Must(vegeta.ReadAllTargets(targeter))(t)
	got, want := map[string]int{}, map[string]int{}
	for _, one := range f.Targets {
		got[sentBy(t, one)] += one.Weight
	}
	for _, one := range all {
		want[sentByVegeta(t, one)]++
	}
	testenv.Equal(t, got, want, listed(got), listed(want))
	testenv.Equal(t, len(got), len(f.Targets), "targets, of which  are different")
}

func listed(all map[string]int) (text string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		text += fmt.Sprintf("%d × %s\n", all[key], key)
	}
	return text
}

// sentByVegeta returns what vegeta sends, with the name of each header in its canonical form.
func sentByVegeta(t *testing.T, one vegeta.Target) string {
	t.Helper()
	req, err := one.Request()
	switch {
	case err != nil && strings.Contains(err.Error(), "invalid method"):
		t.Skip("the rules of a profile report it")
	case err != nil:
		t.Fatal(err)
	}
	if user := req.URL.User; user != nil && req.Header.Get("Authorization") == "" { // net/http does it when it sends
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	header := map[string]string{}
	for name, values := range req.Header {
		header[http.CanonicalHeaderKey(name)] = strings.Join(values, ", ")
	}
	return fmt.Sprintf("%s %s %v %q", one.Method, Encoded(req.URL.RequestURI(), "{}"), header, one.Body)
}

func sentBy(t *testing.T, one Target) string {
	t.Helper()
	body := []byte(one.Body)
	if one.BodyFile != "" {
		testenv.Check(t, filepath.IsAbs(one.BodyFile), "%s is not a whole path", one.BodyFile)
		var err error
		body, err = os.ReadFile(one.BodyFile)
		testenv.Need(t, err == nil, "%v", err)
	}
	return fmt.Sprintf("%s %s %v %q", one.Method, one.Path, one.Header, body)
}

func TestOrderAndWeights(t *testing.T) {
	f := testenv.Must(Parse("x/t.txt", "t.txt", []byte(targetFiles(t)["weights"])))(t)
	bearer := map[string]string{"Authorization": "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x"}
	want := File{Base: "http://api:8080", Targets: []Target{
		{Line: 1, Weight: 3, Method: "GET", Path: "/info", Header: bearer},
		{Line: 4, Weight: 1, Method: "POST", Path: "/buy/1", Header: bearer},
	}}
	testenv.Equal(t, f, want)
}

// A user in the URL is sent as net/http does.
// Cookies that are given several times are one header: commas would be part of them.
func TestRepeatedCookies(t *testing.T) {
	for name, text := range map[string]string{
		"HTTP":           "GET http://h/\nCookie: a=1\nX: y\ncookie: b=2; c=3\n",
		"JSON":           `{"method":"GET","url":"http://h/","header":{"Cookie":["a=1","b=2; c=3"],"X":["y"]}}`,
		"both spellings": `{"method":"GET","url":"http://h/","header":{"Cookie":["a=1"],"cookie":["b=2; c=3"],"X":["y"]}}`,
	} {
		f := testenv.Must(Parse("t.txt", "t.txt", []byte(text)))(t)
		got := f.Targets[0].Header
		testenv.Check(t, len(got) == 2 && got["Cookie"] == "a=1; b=2; c=3", "%s: %q", name, got)
	}
}

func TestUserOfAddress(t *testing.T) {
	f, err := Parse("t", "t", []byte("GET http://user:pass@h/\n\nGET http://h/\nAuthorization: Token x\n"))
	testenv.Need(t, err == nil && len(f.Targets) == 2 && f.Base == "http://h", "%+v, %v", f, err)
	a, b := f.Targets[0].Header["Authorization"], f.Targets[1].Header["Authorization"]
	testenv.Check(t, a == "Basic dXNlcjpwYXNz" && b == "Token x", "%q, %q", a, b)
}

// A path has no braces, blanks or letters that are not ASCII: no part of it is a variable.
func TestEscapedAddresses(t *testing.T) {
	f := testenv.Must(Parse("t", "t", []byte(targetFiles(t)["escaped"])))(t)
	var got []string
	for _, one := range f.Targets {
		got = append(got, one.Path)
	}
	want := []string{
		"/sector/Alpha%20Crucis/Ahkiweahi%27?lod=overview", `/Reaver's%2FDeep?q=%7B"id":[1]%7D&r=%7Bid%7D|x`, "/%7Bid%7D/%C4%8Daj?q=%C4%8Daj", "/?",
		"//a/../b;c=1?d+e=%zz",
	}
	testenv.Equal(t, got, want)
}

// The file of a body is in the folder of the target file, or in the working folder.
func TestPlacesOfBodies(t *testing.T) {
	inFolder(t)
	here := testenv.Must(os.Getwd())(t)
	for name, want := range map[string]string{
		"near.json": "load/near.json", "load/queries/all.json": "load/queries/all.json", "queries/all.json": "load/queries/all.json",
		"../thing.json": "thing.json", "new.json": "load/new.json", // the same file by two names
		filepath.Join(here, "both.json"): "both.json",
	} {
		f, err := Parse("load/t.txt", "t.txt", []byte("POST http://h/\n@"+name+"\n"), ".")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got, _ := filepath.Rel(here, f.Targets[0].BodyFile); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}

// A file has as many different targets as a profile has requests; more of them is one mistake.
func TestMostTargets(t *testing.T) {
	var b bytes.Buffer
	for i := range 3 * Most {
		fmt.Fprintf(&b, "GET http://h/user/%d\n", i%Most)
	}
	f, err := Parse("t", "t", b.Bytes())
	testenv.Need(t, err == nil && len(f.Targets) == Most && f.Targets[Most-1].Weight == 3,
		"%d targets, %v", len(f.Targets), err)
	b.WriteString("GET http://h/one\nGET /three\n")
	testenv.Fails(t, testenv.Err(Parse("t", "t", b.Bytes())), "t:301: more than 100 different targets; put what differs into a file of values")
}

func TestBoundsOfTargets(t *testing.T) {
	inFolder(t)
	for name, test := range map[string]struct {
		text, want string
		size       int64 // of the body file
	}{
		"headers":    {"GET http://h/\n" + manyHeaders(maxHeader), "", 0},
		"51 headers": {"GET http://h/\n" + manyHeaders(maxHeader+1), "t:1: 51 headers; write at most 50", 0},
		"a body":     {"POST http://h/\n@big\n", "", 64 << 20},
		"a big body": {"POST http://h/\n@big\n", "t:2: `@big` is larger than 64 MiB; shorten it", 64<<20 + 1},
		"a text":     {jsonBody(maxText), "", 0},
		"a big text": {"\n" + jsonBody(maxText+1), "t:2: a body that is not text, or has more than 64KiB; write it to a file", 0},
	} {
		t.Run(name, func(t *testing.T) {
			testenv.OK(t, os.WriteFile("big", nil, 0o600))
			if err := os.Truncate("big", test.size); err != nil { // takes no room
				t.Fatal(err)
			}
			testenv.Fails(t, testenv.Err(Parse("t", "t", []byte(test.text))), test.want)
		})
	}
	testenv.OK(t, os.WriteFile("huge", nil, 0o600))
	testenv.OK(t, os.Truncate("huge", 16<<20+1))
	testenv.Fails(t, testenv.Err(Read("huge", "huge")), "larger than the 16 MiB allowed")
}

func manyHeaders(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("X-%d: 1\n", i)
	}
	return text
}

// jsonBody returns a target with a body of n bytes.
func jsonBody(n int) string {
	var b bytes.Buffer
	encode := vegeta.NewJSONTargetEncoder(&b)
	if err := encode(&vegeta.Target{Method: "POST", URL: "http://h/", Body: bytes.Repeat([]byte("x"), n)}); err != nil {
		panic(err)
	}
	return b.String()
}

// TestMistakes: the first mistake of a file is reported with its line, without what may be secret in
// it: vegeta's, or what vegeta accepts and locbench cannot send.
func TestMistakes(t *testing.T) {
	inFolder(t)
	testenv.OK(t, os.WriteFile("secret.json", []byte("{}"), 0o600))
	const get = "GET http://h/a\n"
	for in, want := range map[string]string{
		"\n# a\n":                                           "no targets; write one, such as `GET http://127.0.0.1:8080/items`",
		get + "# a\n":                                       "",
		get + "\nhttp://me:secret@h/\n\nX\n":                "3: vegeta: bad target; write `METHOD URL`, below it",
		"GET http://h/a HTTP/1.1\n":                         "1: the URL has a blank; write it as %20",
		get + "\nget http://h/\n":                           "3: vegeta: bad method; write",
		get + get + "GET http://me:sec ret@h/\n":            "3: vegeta: bad URL; write",
		get + "\n\n" + get + "X-A: 1\n# b\nBearer secret\n": "7: vegeta: bad header; write",
		"{}": "1: vegeta: target: required method is missing; write one object in each line",
		`{"method": "GET", "url": "http://h/"}` + "\n\n{secret\n":  "3: vegeta: parse error: syntax error; write one object",
		`{"method": "GET", "url": "http://h/", "body": "secret!"}`: "1: vegeta: parse error: illegal base64 data at input byte 6; write",
		get + "X-A: \xe9\n":                                            "2: not UTF-8; write the file in UTF-8",
		get + "X-A: " + strings.Repeat("x", 64<<10):                    "2: a line of 64 KiB or more, at which vegeta ends; shorten it, or use the JSON format",
		get + get + "GET /b\n":                                         "3: the URL has no scheme and host; write a whole one",
		get + get + "GET https://h/b\n":                                "3: another host than http://h: https://h; write one file for each",
		get + "X: 1\n\nGET http://h/b\nx: 1\nX: 2\n":                   `4: the header "x" is given twice; write one`,
		"GET http://me:secret@h/\nAuthorization: x\n":                  "1: the URL has a user, and the target an Authorization; keep one of the two",
		`{"method": "PUT", "url": "http://h/", "body": "/w=="}`:        "1: a body that is not text, or has more than 64KiB; write it to a file",
		get + "@none.json\n":                                           "2: `@none.json`: stat ",
		get + "@\n":                                                    "2: `@`: ",
		get + "@both.json\n":                                           "2: `@both.json` is two files: in the folder of this file, and in the working folder",
		get + "@../secret.json\n":                                      "2: `@../secret.json` is outside of the folder of this file; move it there, or allow its folder",
		get + "X: 1\n  @secret.json\n":                                 "3: `@secret.json` is outside of the folder of this file",
		"@/etc/passwd\n" + get:                                         "1: `@/etc/passwd` is outside of the folder of this file; move it there",
		get + "X: 1\n(body): /etc/passwd\n\n" + get + "@/etc/passwd\n": "6: `@/etc/passwd` is outside of the folder of this file; move it there",
	} {
		_, err := Parse("load/t.txt", "t.txt", []byte(in))
		if want == "" {
			testenv.OK(t, err)
			continue
		}
		testenv.Fails(t, err, "t.txt:", want)
		testenv.Check(t, !strings.Contains(err.Error(), "sec ret") && !strings.Contains(err.Error(), "secret@") && !strings.Contains(err.Error(), "Bearer"),
			"%v", err)
	}
	f, err := Parse("load/t.txt", "t.txt", []byte("GET http://h/\n(body): /etc/passwd\n"))
	testenv.Check(t, err == nil && f.Targets[0].BodyFile == "" && f.Targets[0].Header["(body)"] != "",
		"%+v, %v: a header is the file of a body", f, err)
}

// FuzzParse: any file has a mistake in one of its lines, or it is read as vegeta reads it.
func FuzzParse(f *testing.F) {
	for _, text := range targetFiles(f) {
		f.Add(text)
	}
	for _, text := range []string{
		"GET http://h/a\n# b\nGET http://h/b\n", "POST http://h/\n@new.json\nX: 1", "GET http://h/\nHOST : x\n", "{}\n#", "[{}]",
		"GET http://h/\nX: {a}${b}$${c}\n\n\nGET http://u@h:80/?{{a}}", `{"method":"x","url":"http://h/\u00e9\ud800","header":{"a":["\u0001"]}}`,
		"GET http://[::1]:80/%2f?%\nX:1", "GET http://h\u00a0/ \u2028\n", "\x00", "GET http://h/\r\r\nX: 1\r", `{"method":"GET","url":"http:\/\/h","\u0062ody":"YQ\n=="}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		inFolder(t)
		for line := range strings.Lines(text) { // vegeta opens any file
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "@") && line != "@new.json" && line != "@thing.json" {
				t.Skip()
			}
		}
		_, err := Parse("targets.txt", "t", []byte(text))
		if err == nil {
			compareWithVegeta(t, text)
			return
		}
		all, ok := errors.AsType[strictyaml.Mistakes](err)
		testenv.Need(t, ok && len(all) == 1, "%d mistakes: %v", len(all), err)
		if m := all[0]; m.Line < 1 || m.Line > 1+strings.Count(text, "\n") || strings.ContainsAny(m.String(), "\n\r\x00\x1b") || len(m.String()) > 900 {
			t.Errorf("%q of %q", m, text)
		}
	})
}
