package workload

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// A boundary that is in a file is replaced; the other is the same each time.
func TestBoundary(t *testing.T) {
	sent := func(file string) (body []byte, boundary string) {
		m, err := NewMix(Spec{
			BaseURL: "http://a", Step: bench.Step{Connections: 1, Duration: time.Second}, Data: values.Data{Files: map[string][]byte{"f": []byte(file)}},
			Requests: []bench.Request{{Name: "up", Weight: 1, Method: "POST", Path: "/", Multipart: []bench.Field{{Name: "f", File: "f", FileName: "f"}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var u User
		if err := m.Begin(&u); err != nil {
			t.Fatal(err)
		}
		_, body = m.Write(&u, nil)
		_, rest, _ := strings.Cut(string(body), "boundary=")
		boundary, _, _ = strings.Cut(rest, "\r\n")
		return body, boundary
	}
	body, first := sent("a")
	again, same := sent("a")
	if first != same || !bytes.Equal(body, again) || len(first) < 30 {
		t.Errorf("boundaries %q and %q", first, same)
	}
	if _, other := sent("b"); other == first {
		t.Errorf("boundary %q of another file", other)
	}
	// A file with its own boundary cannot be made, but each boundary is looked for.
	next := newBoundary([]bench.Field{{Name: "f"}}, nil, func(b string) bool { return b == "" })
	other := newBoundary([]bench.Field{{Name: "f"}}, nil, func(b string) bool { return b == "" || b == next })
	if other == next || other == "" {
		t.Errorf("boundaries %q and %q", next, other)
	}
}
