package targets

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

// All mistakes of a file, most of them of vegeta's users, are reported at once.
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
