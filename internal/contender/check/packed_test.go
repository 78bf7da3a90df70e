package check

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

// A suite looks at the unpacked body. What cannot be unpacked is neither right nor wrong.
func TestHTTP_Packed(t *testing.T) {
	whole := gzipped(`{"id":7}`)
	for name, tt := range map[string]struct {
		expect, encoding string
		body             []byte
		want             bench.CheckStatus
		detail           string
	}{
		"right":               {`{json: {id: 7}}`, "gzip", whole, bench.CheckPassed, ""},
		"wrong":               {`{json: {id: 8}}`, "gzip", whole, bench.CheckFailed, "$.id: expected 8, got 7"},
		"another encoding":    {`{json: {id: 7}}`, "zip", whole, bench.CheckSkipped, `the body was not looked at: encoding "zip" is not gzip, deflate, br or zstd`},
		"broken":              {`{contains: x}`, "br", whole, bench.CheckSkipped, "the body was not looked at: br body could not be unpacked: it is broken"},
		"cut short":           {`{body: x}`, "gzip", whole[:20], bench.CheckSkipped, "the body was not looked at: gzip body could not be unpacked: it ends too early"},
		"a bomb":              {`{present: id}`, "gzip", gzipped(string(make([]byte, maxBody+1))), bench.CheckSkipped, "the body was not looked at: longer than 4 MiB"},
		"only the header":     {`{header: {Content-Encoding: br}}`, "br", whole, bench.CheckPassed, ""},
		"the header is wrong": {`{header: {Content-Encoding: gzip}, json: {id: 7}}`, "br", whole, bench.CheckFailed, "header Content-Encoding: expected \"gzip\" in it, got \"br\""},
		"another status":      {`{status: 404, json: {id: 7}}`, "br", whole, bench.CheckFailed, "expected status 404, got 200 with a body that was not looked at: br body could not be unpacked: it is broken"},
		"an image":            {`{status: 404}`, "", []byte("\x89PNG\r\n\x1a\n\x00"), bench.CheckFailed, "expected status 404, got 200 with 9 bytes of image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			got := one(t, tt.expect, func(w http.ResponseWriter, _ *http.Request) {
				if tt.encoding != "" {
					w.Header().Set("Content-Encoding", tt.encoding)
				}
				w.Write(tt.body)
			})
			testenv.Check(t, got.Status == tt.want && got.Detail == tt.detail,
				"%s: %q, want %s: %q", got.Status, got.Detail, tt.want, tt.detail)
		})
	}
}

// A body of the load that is not there is not looked at by any expectation of a body; what the rest
// of the response shows still counts.
func TestExpect_WithoutBody(t *testing.T) {
	unread := errors.New("not there")
	for expect, want := range map[string]string{
		`{json: {}}`: "not there", `{json_includes: {a: 1}}`: "not there", `{at: {a: 1}}`: "not there", `{every: {a: 1}}`: "not there",
		`{none: {a: 1}}`: "not there", `{some: {a: 1}}`: "not there", `{count: {a: 1}}`: "not there", `{keys: {$: [a]}}`: "not there",
		`{present: a}`: "not there", `{schema: {type: object}}`: "not there", `{message: a}`: "not there", `{contains: a}`: "not there",
		`{body: ""}`: "not there", `{max_size: 3B}`: "not there",
		`{max_size: 1B}`: "expected at most 1 bytes, got 2", `{header: {A: b}}`: "", `{header: {A: c}, json: {}}`: `header A: expected "c" in it, got "b"`,
	} {
		header := func() http.Header { return http.Header{"A": {"b"}} }
		err := expectation(t, expect).Judge(Sent{Status: 200, Header: header, Body: []byte("{}"), Unread: unread})
		if got := errors.Is(err, unread); got != (want == unread.Error()) || err != nil && err.Error() != want || err == nil && want != "" {
			t.Errorf("%s: %v, want %q", expect, err, want)
		}
	}
}
