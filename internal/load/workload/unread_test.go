package workload

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// A session that saves from packed bodies allocates next to nothing for it.
func TestUnpackingAllocatesLittle(t *testing.T) {
	m, err := NewMix(Plan{
		BaseURL: "http://h", Step: bench.Step{Connections: 1, Duration: time.Second}, Sessions: []bench.Session{{Name: "s"}},
		Requests: []bench.Request{
			{Name: "one", Path: "/", Session: "s", Save: []bench.Save{{Name: "id", From: bench.FromJSON, Of: "id"}}},
			{Name: "two", Path: "/{id}", Session: "s"},
		},
	})
	testenv.OK(t, err)
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprintf(w, `{"pad":"%0500d","id":"x7"}`, 1)
	w.Close()
	a := Response{Status: 200, Head: []byte("Content-Type: application/json\r\nContent-Encoding: gzip\r\n"), Body: b.Bytes()}
	var u User
	var out []byte
	n := testing.AllocsPerRun(200, func() {
		testenv.OK(t, m.Begin(&u))
		r, _ := m.Write(&u, out[:0])
		_, kind, why := m.CheckResponse(&u, r, a)
		testenv.Need(t, kind == "", "%v", why)
		u.Done(false)
		_, out = m.Write(&u, out[:0])
		u.Done(false)
	})
	if n > 1 && !testenv.Raced { // for two requests; the race detector empties pools by chance
		t.Errorf("%g allocations", n)
	}
}

// Connections unpack at the same time, each its own body.
func TestUnpackingInParallel(t *testing.T) {
	m, err := NewMix(Plan{
		BaseURL: "http://h", Step: bench.Step{Connections: 1, Duration: time.Second}, CheckEvery: 1,
		Requests: []bench.Request{{Name: "one", Path: "/"}},
		Check: func(a Response) error {
			if want := bytes.Repeat(a.Head[:1], 5000); !bytes.Equal(a.Body, want) {
				return fmt.Errorf("%.20q", a.Body)
			}
			return nil
		},
	})
	testenv.OK(t, err)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Write(bytes.Repeat([]byte{'a' + byte(i)}, 5000))
			w.Close()
			a := Response{Status: 200, Head: append([]byte{'a' + byte(i)}, ": b\r\nContent-Encoding: gzip\r\n"...), Body: b.Bytes()}
			var u User
			for range 50 {
				testenv.OK(t, m.Begin(&u))
				r, _ := m.Write(&u, nil)
				checked, kind, why := m.CheckResponse(&u, r, a)
				testenv.Check(t, checked && kind == "", "%t %s %s", checked, kind, why)
				u.Done(false)
			}
		})
	}
	all.Wait()
}
