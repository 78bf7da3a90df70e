package load

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// What a contender sends is hostile: whatever it is, reading it ends, and with a success only for the wanted status.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 \x1b[31m\r\nContent-Length: 99\r\n\r\nx",
		"HTTP/1.0 200 OK\r\n\r\nhello", "HTTP/1.1 101 S\r\n\r\n", "HTTP/1.1 999 What\r\nContent-Length: -1\r\n\r\n", "SSH-2.0\r\n", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limit := &limitedReader{r: bytes.NewReader(data)}
		s := &slot{limit: limit, br: bufio.NewReader(limit)}
		req, err := http.NewRequest(http.MethodGet, "http://h/", nil)
		if err != nil {
			t.Fatal(err)
		}
		var o exchange
		_, err = s.answer(req, http.StatusOK, &o)
		if err != nil {
			if classify(err) == "" {
				t.Errorf("%v has no kind", err)
			}
			return
		}
		if o.kind == "" && !bytes.Contains(data, []byte("200")) {
			t.Errorf("a success without a 200 in %q", data)
		}
		if o.bytes > int64(len(data)) {
			t.Errorf("%d bytes of %d", o.bytes, len(data))
		}
		if !utf8.ValidString(o.example) || len(o.example) > maxExample+3 {
			t.Errorf("example %q", o.example)
		}
	})
}

// The parts of a URL, put together again, are the URL.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "/x", "/{id}", "/{language}/{id}{id}?a={language}", "{i{id}d}", "{{id}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		for _, p := range split(s) {
			switch p.kind {
			case partText:
				if p.text == "" || strings.Contains(p.text, "{id}") || strings.Contains(p.text, "{language}") {
					t.Errorf("text %q", p.text)
				}
				b.WriteString(p.text)
			case partID:
				b.WriteString("{id}")
			case partLanguage:
				b.WriteString("{language}")
			}
		}
		if b.String() != s {
			t.Errorf("%q became %q", s, b.String())
		}
	})
}
