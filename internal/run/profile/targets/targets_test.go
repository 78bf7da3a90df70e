package targets

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"locbench/internal/text/strictyaml"
)

// inFolder makes a working folder with the bodies that the files of the tests name.
func inFolder(t testing.TB) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range []string{"new.json", "thing.json", "load/queries/all.json", "load/near.json", "load/both.json", "both.json"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(`{"in": "`+name+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link("new.json", "load/new.json"); err != nil {
		t.Fatal(err)
	}
}

// The target files of vegeta's manual and of its users, from issues and repositories.
var files = map[string]string{
	"addresses": `GET http://goku:9090/path/to/dragon?item=ball
GET http://user:password@goku:9090/path/to
HEAD http://goku:9090/path/to/success
`,
	"headers": `GET http://user:password@goku:9090/path/to
X-Account-ID: 8675309

DELETE http://goku:9090/path/to/remove
Confirmation-Token: 90215
Authorization: Token DEADBEEF
`,
	"bodies": `POST http://goku:9090/things
@new.json

PATCH http://goku:9090/thing/71988591
X-Account-ID: 99
@thing.json
`,
	"bodies without empty lines": `POST http://goku:9090/things
@new.json
PATCH http://goku:9090/thing/71988591
@thing.json
GET http://goku:9090/
`,
	"comments": `# get a dragon ball
GET http://goku:9090/path/to/dragon?item=ball
# specify a test account
X-Account-ID: 99
# and a kind
Accept: */*
`,
	"weights": `GET http://api:8080/info
Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.x

POST http://api:8080/buy/1
Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.x

GET http://api:8080/info
Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.x

GET http://API:8080/info
Authorization:Bearer eyJhbGciOiJIUzI1NiJ9.e30.x
`,
	"hosts by header": `GET http://nginx/search
Host: alpha.local

GET http://nginx:80/search
Host: beta.local

GET http://nginx/search
Host: alpha.local
`,
	"bodies from the working folder": `POST http://localhost:4040/
Content-Type: application/json
@load/queries/all.json

POST http://localhost:4040/
@./new.json
`,
	"untidy": "\r\n  GET http://localhost:3000\r\n\tGET http://localhost:3000/posts \r\n\r\n\r\n   GET http://localhost:3000/templates\r\n" +
		"  X-A :  1: 2 \r\n    \r\nGET http://localhost:3000/posts",
	"escaped": `GET http://127.0.0.1:3000/sector/Alpha%20Crucis/Ahkiweahi%27?lod=overview
GET http://127.0.0.1:3000/Reaver's%2FDeep?q={"id":[1]}&r={id}|x
GET http://127.0.0.1:3000/{id}/čaj?q=čaj
GET http://127.0.0.1:3000?
GET http://127.0.0.1:3000//a/../b;c=1?d+e=%zz
`,
	"a length": `POST http://127.0.0.1:5026/predict
Content-Type: application/json
Content-Length: 47
@thing.json
`,
	"JSON": `{"method":"POST","url":"http://goku/1","body":"UHVuY2gh","header":{"Content-Type":["text/plain"]}}
{"method":"GET","url":"http://goku/2","body":null,"header":null}
{"method":"POST","url":"http://goku/1","header":{"Content-Type":["text/plain"]},"body":"UHVuY2gh"}
`,
	"untidy JSON": "\n\n\t  {\"url\": \"https://goku/1\", \"method\": \"GET\"}\r\n\n{\"method\": \"PUT\", \"url\": \"https://user:p%40ss@goku/1?a={b}\", \"body\": \"eyJhIjogIntifSR7SE9NRX0ifQ==\"}\n",
}

// Every file is read as vegeta reads it: the same requests, as often.
func TestSameAsVegeta(t *testing.T) {
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			inFolder(t)
			compareWithVegeta(t, text)
		})
	}
}

func compareWithVegeta(t *testing.T, text string) {
	t.Helper()
	f, err := Parse("targets.txt", "targets.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	whole := text + "\n" // vegeta drops a last line of JSON without an end
	targeter := vegeta.NewHTTPTargeter(strings.NewReader(whole), nil, nil)
	if isJSON(strings.Split(text, "\n")) {
		targeter = vegeta.NewJSONTargeter(strings.NewReader(whole), nil, nil)
	}
	all, err := vegeta.ReadAllTargets(targeter)
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]int{}, map[string]int{}
	for _, one := range f.Targets {
		got[sentBy(t, one)] += one.Weight
	}
	for _, one := range all {
		want[sentByVegeta(t, one)]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", listed(got), listed(want))
	}
	if len(got) != len(f.Targets) {
		t.Errorf("%d targets, of which %d are different", len(f.Targets), len(got))
	}
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
	return fmt.Sprintf("%s %s %v %q", one.Method, encoded(req.URL.RequestURI()), header, one.Body)
}

func sentBy(t *testing.T, one Target) string {
	t.Helper()
	body := []byte(one.Body)
	if one.BodyFile != "" {
		if !filepath.IsAbs(one.BodyFile) {
			t.Errorf("%s is not a whole path", one.BodyFile)
		}
		var err error
		if body, err = os.ReadFile(one.BodyFile); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%s %s %v %q", one.Method, one.Path, one.Header, body)
}

func TestOrderAndWeights(t *testing.T) {
	f, err := Parse("x/t.txt", "t.txt", []byte(files["weights"]))
	if err != nil {
		t.Fatal(err)
	}
	bearer := map[string]string{"Authorization": "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x"}
	want := File{Base: "http://api:8080", Targets: []Target{
		{Line: 1, Parts: map[string]int{"header.Authorization": 2}, Weight: 3, Method: "GET", Path: "/info", Header: bearer},
		{Line: 4, Parts: map[string]int{"header.Authorization": 5}, Weight: 1, Method: "POST", Path: "/buy/1", Header: bearer},
	}}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got  %+v\nwant %+v", f, want)
	}
}

// A user in the URL is sent as net/http does.
func TestUserOfAddress(t *testing.T) {
	f, err := Parse("t", "t", []byte("GET http://user:pass@h/\n\nGET http://h/\nAuthorization: Token x\n"))
	if err != nil || len(f.Targets) != 2 || f.Base != "http://h" {
		t.Fatalf("%+v, %v", f, err)
	}
	if a, b := f.Targets[0].Header["Authorization"], f.Targets[1].Header["Authorization"]; a != "Basic dXNlcjpwYXNz" || b != "Token x" {
		t.Errorf("%q, %q", a, b)
	}
}

// A path has no braces, blanks or letters that are not ASCII: no part of it is a variable.
func TestEscapedAddresses(t *testing.T) {
	f, err := Parse("t", "t", []byte(files["escaped"]))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range f.Targets {
		got = append(got, one.Path)
	}
	want := []string{
		"/sector/Alpha%20Crucis/Ahkiweahi%27?lod=overview", `/Reaver's%2FDeep?q=%7B"id":[1]%7D&r=%7Bid%7D|x`, "/%7Bid%7D/%C4%8Daj?q=%C4%8Daj", "/?",
		"//a/../b;c=1?d+e=%zz",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The file of a body is in the folder of the target file, or in the working folder.
func TestPlacesOfBodies(t *testing.T) {
	inFolder(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"near.json": "load/near.json", "load/queries/all.json": "load/queries/all.json", "queries/all.json": "load/queries/all.json",
		"../thing.json": "thing.json", "new.json": "load/new.json", // the same file by two names
		filepath.Join(here, "both.json"): "both.json",
	} {
		f, err := Parse("load/t.txt", "t.txt", []byte("POST http://h/\n@"+name+"\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got, _ := filepath.Rel(here, f.Targets[0].BodyFile); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	const get = "GET http://h/a\n"
	bodies := "write the body to a file, and `@FILE` right after the headers"
	for name, test := range map[string]struct{ in, want string }{
		"nothing":       {"", "t.txt:1: no targets; write one, such as `GET http://127.0.0.1:8080/items`"},
		"only comments": {"# a\n\n#b\n", "t.txt:1: no targets; write one, such as `GET http://127.0.0.1:8080/items`"},
		"no method":     {"http://localhost:9001/config/base/\n", "t.txt:1: no method before the URL; write `GET`, or another one, and a blank before it"},
		"no URL":        {"GET\n", "t.txt:1: not a target; write `METHOD URL`, such as `GET http://127.0.0.1:8080/items`"},
		"lower case":    {"get http://h/\n", "t.txt:1: \"get\" is not a method; write `GET`"},
		"blanks":        {"GET  http://h/\nGET\thttp://h/\n", "t.txt:1: not one blank between method and URL; write exactly one\nt.txt:2: not one blank between method and URL; write exactly one"},
		"a version": {
			"GET http://60.0.0.1/ HTTP/1.1\nHost: 60.0.0.1\n",
			"t.txt:1: the URL ends with a version of HTTP, which vegeta sends as a part of the path; remove it",
		},
		"a weight after the URL": {"GET http://h/path 5\n", "t.txt:1: the URL has a blank; write `%20` for it, and nothing after the URL"},
		"a weight in a line": {
			"POST http://h/things\n%60\n\nGET http://h/\n%40\n",
			"t.txt:2: not a header; write `NAME: VALUE`, `@FILE` for the body, or an empty line before the next target; a target that is more frequent is repeated\n" +
				"t.txt:5: not a header; write `NAME: VALUE`, `@FILE` for the body, or an empty line before the next target; a target that is more frequent is repeated",
		},
		"slashes": {get + "// GET http://h/b\n\n// vim: x\n", "t.txt:2: neither a header nor a comment; begin a comment with `#`\nt.txt:4: neither a target nor a comment; begin a comment with `#`"},
		"a body after an empty line": {
			"POST http://h/a\nX-Key: k\n\n{\"model\": \"x\"}\n\nPOST http://h/b\n\n{\"model\": \"y\"}",
			"t.txt:4: a body in place of a target; " + bodies + "\nt.txt:8: a body in place of a target; " + bodies,
		},
		"a body after the headers": {
			"POST http://h/a\nX-Key: k\n{\"model\": \"x\"}\n",
			"t.txt:3: a body, which vegeta takes for a header; " + bodies,
		},
		"a missing empty line": {
			"GET http://h/a\nX-A: 1\nGET http://h/b\n# c\nGET http://h/c\n",
			"t.txt:3: vegeta takes this target for a header of the one before it; write an empty line before it\n" +
				"t.txt:5: vegeta takes this target for a header of the one before it; write an empty line before it",
		},
		"a header after the body": {
			"POST http://h/a\n@new.json\nX-A: 1\nX-B: 2\n\nGET http://h/b\n",
			"t.txt:3: a header without a target; write it below the first line of its target, above any `@FILE`",
		},
		"two bodies": {
			"POST http://h/a\n@new.json\n@thing.json\n\n@\n",
			"t.txt:3: a body without a target; write `@FILE` right after the headers of its target, once\n" +
				"t.txt:5: a body without a target; write `@FILE` right after the headers of its target, once",
		},
		"no file":    {"POST http://h/a\n@\n", "t.txt:2: `@` without the path of a file; write it: `@body.json`"},
		"not found":  {"POST http://h/a\nX: 1\n@none.json\n", "t.txt:3: `@none.json`: file not found; write its path from the folder of this file, or from the working folder"},
		"a folder":   {"POST http://h/a\n@load\n", "t.txt:2: `@load`: load is a folder, not a regular file; write the path of a file"},
		"two files":  {"POST http://h/a\n@both.json\n", "t.txt:2: `@both.json` is two files: in the folder of this file, and in the working folder, which vegeta takes; write the whole path of the one that you mean"},
		"no value":   {get + "X-A:\n", "t.txt:2: the header \"X-A\" has no value; write one, or remove the line"},
		"no name":    {get + ": 1\n", "t.txt:2: not a header; write `NAME: VALUE`, `@FILE` for the body, or an empty line before the next target; a target that is more frequent is repeated"},
		"twice":      {get + "X-A: 1\nAccept: a\nx-a: 2\n", "t.txt:4: the header \"x-a\" is given twice; write one, with commas between its values"},
		"same twice": {get + "X-A: 1\nX-A: 2\n", "t.txt:3: the header \"X-A\" is given twice; write one, with commas between its values"},
		"hosts": {
			"GET http://a:80/\nGET https://a/\nGET http://a/x\nGET http://b:8080/\nGET http://b:8080/2\n",
			"t.txt:2: another host than http://a in line 1: https://a; write one file for each: all requests go to the contender, or to --target URL\n" +
				"t.txt:4: another host than http://a in line 1: http://b:8080; write one file for each: all requests go to the contender, or to --target URL",
		},
		"no host": {
			"GET /a\nGET https:/blah.com/still\nGET localhost:8080/x\nGET ftp://h/x\n",
			strings.Repeat("t.txt:%d: the URL has no scheme and host; write a whole one, such as `http://127.0.0.1:8080/items`\n", 4),
		},
		"a password":      {"GET http://user:pa/ss@h/\n", "t.txt:1: malformed URL; in a password write # as %23, / as %2F, ? as %3F, @ as %40 and a space as %20"},
		"two users":       {"GET http://user:pass@h/\nX: 1\nauthorization: Token x\n", "t.txt:3: the URL has a user, and the target an Authorization; keep one of the two"},
		"a fragment":      {"GET http://h/a#b\n", "t.txt:1: the URL has a fragment (`#…`), which vegeta never sends; remove it, or write `%23` for `#`"},
		"byte order mark": {"\ufeffGET http://h/a\n", "t.txt:1: a byte order mark, which vegeta takes for a part of the first method; save the file without it"},
		"not UTF-8":       {get + "X-A: \xe9\n", "t.txt:2: not UTF-8; write the file in UTF-8"},
		"a long line":     {get + "X-A: " + strings.Repeat("x", 64<<10) + "\n", "t.txt:2: a line of 64 KiB or more, at which vegeta ends; shorten it, or use the JSON format"},
		"a list": {
			"[\n  {\n    \"method\": \"POST\",\n",
			"t.txt:1: a list of targets; write each target on its own line, without the brackets and commas of the list, as `jq -c '.[]'` does",
		},
		"several lines": {"{\n  \"method\": \"POST\",\n  \"url\": \"http://h/\"\n}\n", "t.txt:1: the target does not end on its line; write each target on one line, as `jq -c` does"},
		"commas":        {`{"method": "GET", "url": "http://h/"},` + "\n", "t.txt:1: text after the target; write each target on its own line, without a comma after it"},
		"a comment":     {"# a\n{\"method\": \"GET\", \"url\": \"http://h/\"}\n", "t.txt:1: a comment; remove it: the JSON format has none"},
		"keys": {
			`{"method": "GET", "URL": "http://h/", "headers": {}}` + "\n" + `{"method": "GET", "url": "http://h/", "url": "http://h/2"}`,
			"t.txt:1: unknown key `URL`; did you mean `url`?\nt.txt:1: unknown key `headers`; did you mean `header`?\nt.txt:2: duplicate key `url`; remove one of them",
		},
		"missing": {"{}\n", "t.txt:1: `method` is missing; " + jsonExample + "\nt.txt:1: `url` is missing; " + jsonExample},
		"types": {
			`{"method": 1, "url": ["http://h/"], "body": {"a": 1}, "header": {"Content-Type": "text/plain"}}`,
			"t.txt:1: `method` is not a text; " + jsonExample + "\nt.txt:1: `url` is not a text; " + jsonExample +
				"\nt.txt:1: `body` is not a text; write it in base64, such as \"SGVsbG8=\"; in jq: `@base64`" +
				"\nt.txt:1: `header` is not a map of lists; write lists of texts, such as {\"Content-Type\": [\"text/plain\"]}",
		},
		"plain body": {
			`{"method": "POST", "url": "http://h/", "body": "my request body"}`,
			"t.txt:1: `body` is not base64; write \"SGVsbG8=\" for `Hello`; in jq: `@base64`",
		},
		"no values":    {`{"method": "GET", "url": "http://h/", "header": {"X": [], "Y": ["1", "2"], "y": ["3"]}}`, "t.txt:1: the header \"X\" has no value; write one, such as {\"Accept\": [\"text/html\"]}\nt.txt:1: the header \"Y\" is given twice; write one, with commas between its values"},
		"header twice": {`{"method": "GET", "url": "http://h/", "header": {"X": ["1"], "X": ["2"]}}`, "t.txt:1: `header` has a name twice; remove one of them"},
		"binary body":  {`{"method": "GET", "url": "http://h/", "body": "//4="}`, "t.txt:1: a body that is not text; write it to a file, and name that by `@FILE` in the HTTP format"},
		"not JSON":     {"{method: GET}\n{\"method\": \"GET\", \"url\": \"http://h/\"}\nnull\n", "t.txt:1: not JSON; " + jsonExample + "\nt.txt:3: not a target; " + jsonExample},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t)
			_, err := Parse("load/t.txt", "t.txt", []byte(test.in))
			if strings.Contains(test.want, "%d:") {
				test.want = strings.TrimSuffix(fmt.Sprintf(test.want, 1, 2, 3, 4), "\n")
			}
			if _, ok := errors.AsType[strictyaml.Mistakes](err); !ok || err.Error() != test.want {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

// A file has as many different targets as a profile has requests; more of them is one mistake.
func TestMostTargets(t *testing.T) {
	var b bytes.Buffer
	for i := range 3 * Most {
		fmt.Fprintf(&b, "GET http://h/user/%d\n", i%Most)
	}
	f, err := Parse("t", "t", b.Bytes())
	if err != nil || len(f.Targets) != Most || f.Targets[Most-1].Weight != 3 {
		t.Fatalf("%d targets, %v", len(f.Targets), err)
	}
	b.WriteString("GET http://h/one\nGET http://h/two\nGET http://h/user/1\nGET /three\n")
	_, err = Parse("t", "t", b.Bytes())
	all, _ := errors.AsType[strictyaml.Mistakes](err)
	if len(all) != 2 || all[0].Line != 3*Most+1 || !strings.Contains(err.Error(), "more than 100 different targets; put what differs into a file of values") || all[1].Line != 3*Most+4 {
		t.Errorf("%v", err)
	}
}

func TestBoundsOfTargets(t *testing.T) {
	inFolder(t)
	for name, test := range map[string]struct {
		text, want string
		size       int64 // of the body file
	}{
		"headers":     {"GET http://h/\n" + manyHeaders(maxHeader), "", 0},
		"51 headers":  {"GET http://h/\n" + manyHeaders(maxHeader+1), "t:1: 51 headers; write at most 50", 0},
		"a body":      {"POST http://h/\n@big\n", "", 64 << 20},
		"a big body":  {"POST http://h/\n@big\n", "t:2: `@big` is larger than 64 MiB; shorten it", 64<<20 + 1},
		"a text":      {jsonBody(maxText), "", 0},
		"a big text":  {jsonBody(maxText + 1), "t:1: a body of more than 64KiB; write it to a file", 0},
		"a big line":  {"\n" + jsonBody(maxJSON), "t:2: a target of more than 1MiB; shorten it", 0},
		"100 of many": {strings.Repeat("x\n\n", 200), "t:199: not a target; write `METHOD URL`, such as `GET http://127.0.0.1:8080/items`\nt:199: 100 more mistakes", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile("big", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate("big", test.size); err != nil { // takes no room
				t.Fatal(err)
			}
			_, err := Parse("t", "t", []byte(test.text))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v", err)
			}
		})
	}
	if err := os.WriteFile("huge", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("huge", 16<<20+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Read("huge", "huge"); err == nil || !strings.Contains(err.Error(), "larger than the 16 MiB allowed") {
		t.Errorf("%v", err)
	}
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

// FuzzParse: any file has mistakes in its lines, or it is read as vegeta reads it.
func FuzzParse(f *testing.F) {
	for _, text := range files {
		f.Add(text)
	}
	for _, text := range []string{
		"GET http://h/a\n# b\nGET http://h/b\n", "POST http://h/\n@new.json\nX: 1", "GET http://h/\nHOST : x\n", "{}\n#", "[{}]",
		"GET http://h/\nX: {a}${b}$${c}\n\n\nGET http://u@h:80/?{{a}}", `{"method":"x","url":"http://h/\u00e9\ud800","header":{"a":["\u0001"]}}`,
		"GET http://[::1]:80/%2f?%\nX:1", "GET http://h\u00a0/ \u2028\n", "\x00", "GET http://h/\r\r\nX: 1\r", `{"method":"GET","url":"http:\/\/h","\u0062ody":"YQ\n=="}`,
	} {
		f.Add(text)
	}
	inFolder(f)
	f.Fuzz(func(t *testing.T, text string) {
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
		if !ok || len(all) > 101 {
			t.Fatalf("%d mistakes: %v", len(all), err)
		}
		for _, m := range all {
			if m.Line < 1 || m.Line > 1+strings.Count(text, "\n") || strings.ContainsAny(m.String(), "\n\r\x00\x1b") || len(m.String()) > 600 {
				t.Errorf("%q of %q", m, text)
			}
		}
	})
}
