package load

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load/workload"
)

func packed(coding string, body []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	switch coding {
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 6)
	}
	w.Write(body)
	w.Close()
	return b.Bytes()
}

// A packed body is unpacked for the check, and measured as it came. What cannot be unpacked or is
// too long is counted, and neither right nor wrong.
func TestPackedBodies(t *testing.T) {
	t.Parallel()
	body := []byte(strings.Repeat(`{"id":7}`, 100))
	long := bytes.Repeat([]byte("x"), workload.MaxChecked+1)
	for name, tt := range map[string]struct {
		encoding string
		body     []byte
		kind     bench.ErrorKind // ErrWrong, or why it is not looked at; "": right
		example  string
	}{
		"gzip":         {"gzip", packed("gzip", body), "", ""},
		"deflate":      {"deflate", packed("deflate", body), "", ""},
		"raw":          {"deflate", packed("raw", body), "", ""},
		"several":      {"gzip, deflate", packed("deflate", packed("gzip", body)), "", ""},
		"another text": {"gzip", packed("gzip", []byte("no")), bench.ErrWrong, "no"},
		"a bomb":       {"gzip", packed("gzip", long), bench.UnreadLong, "longer than 1 MiB"},
		"cut short":    {"gzip", packed("gzip", body)[:20], bench.UnreadBroken, "gzip body could not be unpacked: it ends too early"},
		"text":         {"br", body, bench.UnreadBroken, "br body could not be unpacked: it is broken"},
		"unknown":      {"zip", body, bench.UnreadEncoding, `encoding "zip" is not gzip, deflate, br or zstd`},
		"long as sent": {"zip", long, bench.UnreadLong, "longer than 1 MiB"},
		"not packed":   {"", body, "", ""},
		"too long":     {"", long, bench.UnreadLong, "longer than 1 MiB"},
		"the longest":  {"", long[1:], bench.ErrWrong, "xxxxxxxxxx"},
	} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
					if tt.encoding != "" {
						w.Header().Set("Content-Encoding", tt.encoding)
					}
					w.Write(tt.body)
					return 200
				})
				p := counted(server.URL, 2, 6)
				p.CheckEvery = 1
				p.Check = func(a Response) error {
					if a.Unread == nil && !bytes.Equal(a.Body, body) {
						return fmt.Errorf("%.10s", a.Body)
					}
					return a.Unread
				}
				l := run(t, e, p)
				wantWrong, wantUnread := int64(0), int64(0)
				if tt.kind == bench.ErrWrong {
					wantWrong = 6
				} else if tt.kind != "" {
					wantUnread = 6
				}
				if l.Failed[bench.ErrWrong] != wantWrong || l.FailedTotal() != wantWrong || l.Checked != 6-wantUnread ||
					l.UnreadTotal() != wantUnread || l.Unread[tt.kind] != wantUnread || l.Examples[tt.kind] != tt.example {
					t.Errorf("failed %v, checked %d, not looked at %v, examples %q", l.Failed, l.Checked, l.Unread, l.Examples)
				}
				if l.Warnings.Has(bench.WarnNotLookedAt) != (wantUnread > 0) {
					t.Errorf("warnings %q", l.Warnings)
				}
				if want := (6 - wantWrong) * int64(len(tt.body)); l.Bytes != want {
					t.Errorf("%d bytes, want %d", l.Bytes, want)
				}
			})
		})
	}
}

// A value is saved from the unpacked body. If there is none the reason is the body, not the value.
func TestSavesFromPackedBodies(t *testing.T) {
	t.Parallel()
	const notLookedAt = `"id", since the body was not looked at: `
	pad := strings.Repeat("x", workload.MaxChecked)
	last, first := []byte(`{"pad":"`+pad+`","id":"x7"}`), []byte(`{"id":"x7","pad":"`+pad+`"}`)
	for name, tt := range map[string]struct {
		encoding string
		body     []byte
		want     string
	}{
		"gzip":           {"gzip", packed("gzip", []byte(`{"id":"x7"}`)), ""},
		"broken":         {"gzip", []byte(`{"id":"x7"}`), notLookedAt + "gzip body could not be unpacked: it is broken"},
		"long":           {"", last, notLookedAt + "longer than 1 MiB"},
		"long, unpacked": {"gzip", packed("gzip", last), notLookedAt + "longer than 1 MiB"},
		"long, at first": {"gzip", packed("gzip", first), ""},
	} {
		t.Run(name, func(t *testing.T) {
			eachLoop(t, func(t *testing.T, e Engine) {
				var followed atomic.Int64
				server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
					if r.URL.Path == "/x7" {
						followed.Add(1)
						return 200
					}
					if tt.encoding != "" {
						w.Header().Set("Content-Encoding", tt.encoding)
					}
					w.Write(tt.body)
					return 200
				})
				p := counted(server.URL, 1, 3)
				p.Requests = []bench.Request{
					{Name: "one", Path: "/", Session: "s", Save: []bench.Save{{Name: "id", From: bench.FromJSON, Of: "id"}}},
					{Name: "two", Path: "/{id}", Session: "s"},
				}
				p.Sessions = []bench.Session{{Name: "s"}}
				l := run(t, e, p)
				if want := int64(3); tt.want == "" && (followed.Load() != want || l.FailedTotal() > 0) {
					t.Errorf("%d followed, failed %v, %q", followed.Load(), l.Failed, l.Examples)
				}
				if tt.want != "" && (followed.Load() > 0 || l.Failed[bench.ErrSave] != 3 || !strings.Contains(l.Examples[bench.ErrSave], tt.want)) {
					t.Errorf("%d followed, failed %v, %q", followed.Load(), l.Failed, l.Examples)
				}
				err := e.Once(t.Context(), p, func(Asked) {})
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("once: %v", err)
				}
			})
		})
	}
}

// The example of an unexpected status is text too, and of what cannot be shown its size.
func TestExamplesOfPackedBodies(t *testing.T) {
	for encoding, want := range map[string]string{
		"gzip": "500 Internal Server Error {\"error\":\"no stock\"}", "x": "500 Internal Server Error (47 bytes, x)",
	} {
		body := packed("gzip", []byte(`{"error":"no stock"}`))
		want = strings.Replace(want, "47", fmt.Sprint(len(body)), 1)
		eachLoop(t, func(t *testing.T, e Engine) {
			server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
				w.Header().Set("Content-Encoding", encoding)
				w.WriteHeader(500)
				w.Write(body)
				return 500
			})
			p := counted(server.URL, 1, 2)
			if l := run(t, e, p); l.Examples["5xx"] != want {
				t.Errorf("%q, want %q", l.Examples, want)
			}
			var asked Asked
			if err := e.Once(t.Context(), p, func(a Asked) { asked = a }); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("once: %v", err)
			}
			if !bytes.Equal(asked.Response.Body, body) {
				t.Errorf("%q", asked.Response.Body)
			}
		})
	}
}

// Once says why a body was not looked at, which is not an error.
func TestOnceSaysWhatWasNotLookedAt(t *testing.T) {
	server := newCounting(t, func(w http.ResponseWriter, r *http.Request) int {
		w.Header().Set("Content-Encoding", "br")
		io.WriteString(w, "no br at all, but a longer text")
		return 200
	})
	p := counted(server.URL, 1, 1)
	p.Check = func(a Response) error { return errors.Join(a.Unread) }
	var asked Asked
	err := Engine{}.Once(t.Context(), p, func(a Asked) { asked = a })
	if err != nil || asked.Err != nil || asked.Unread != "br body could not be unpacked: it is broken" {
		t.Errorf("%v, %+v", err, asked)
	}
}

// Over HTTP/2 too, bodies are unpacked for the check and measured as they came.
func TestPackedBodiesOverHTTP2(t *testing.T) {
	body := packed("gzip", []byte("text"))
	server, e := newHTTP2(t, false, func(w http.ResponseWriter, r *http.Request) int {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(body)
		return 200
	})
	p := plan2(server.URL, 1, 4)
	p.CheckEvery, p.Check = 1, func(a Response) error {
		if string(a.Body) != "text" || a.Unread != nil {
			return fmt.Errorf("%q, %v", a.Body, a.Unread)
		}
		return nil
	}
	fails, e2 := newHTTP2(t, false, func(w http.ResponseWriter, r *http.Request) int {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(500)
		w.Write(body)
		return 500
	})
	if l := run(t, e2, plan2(fails.URL, 1, 2)); l.Examples["5xx"] != "500 Internal Server Error text" {
		t.Errorf("%q", l.Examples)
	}
	if l := run(t, e, p); l.Succeeded != 4 || l.Checked != 4 || l.Bytes != 4*int64(len(body)) {
		t.Errorf("%d succeeded, %d checked, %d bytes; %v", l.Succeeded, l.Checked, l.Bytes, l.Examples)
	}
}
