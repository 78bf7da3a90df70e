package load

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// A multipart body has its fields in order, values filled in, files unchanged, names escaped, and a
// boundary that is in none of them. The same seed sends the same bytes.
func TestMultipart(t *testing.T) {
	picture := "{name}\r\n--locbench\x00\xff${HOME}" + strings.Repeat("x", 100_000)
	for name, fields := range map[string][]bench.Field{
		"variable": {{Name: "title", Value: "{name} é\""}, {Name: "data", Value: "[1]", Type: "application/json"}},
		"fixed":    {{Name: "title", Value: "{{name}} é\""}},
	} {
		t.Run(name, func(t *testing.T) {
			fields = append(fields, bench.Field{Name: `a"b`, File: "p.bin", FileName: "{{name}}\".png", Type: "image/png"},
				bench.Field{Name: "empty", Value: ""})
			eachLoop(t, func(t *testing.T, e Engine) {
				var mu sync.Mutex
				var wrong []string
				bodies := 0
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					bodies++
					got := ""
					parts, err := r.MultipartReader()
					for err == nil {
						part, failed := parts.NextPart()
						if err = failed; err == nil {
							text, _ := io.ReadAll(part)
							got += fmt.Sprintf("%s %q %d;", part.Header["Content-Disposition"], part.Header.Get("Content-Type"), len(text))
							if part.FileName() != "" && string(text) != picture {
								wrong = append(wrong, "another picture")
							}
							if part.FormName() == "title" && !strings.HasSuffix(string(text), " é\"") {
								wrong = append(wrong, string(text))
							}
						}
					}
					want := `[form-data; name="a%22b"; filename="{name}%22.png"] "image/png" ` + fmt.Sprint(len(picture)) +
						`;[form-data; name="empty"] "" 0;`
					if err != io.EOF || !strings.HasSuffix(got, want) || !strings.HasPrefix(got, `[form-data; name="title"] ""`) {
						wrong = append(wrong, got, err.Error())
					}
				}))
				t.Cleanup(server.Close)
				p := plan(server.URL, 2, time.Hour)
				p.Step.MaxRequests = 6
				p.Variables = []bench.Variable{{Name: "name", Make: bench.GenerateString, Length: 5}}
				p.Requests = []bench.Request{{Name: "up", Method: "POST", Path: "/", Multipart: fields}}
				p.Data.Files = map[string][]byte{"p.bin": []byte(picture)}
				if l := run(t, e, p); l.Succeeded != 6 || bodies != 6 || len(wrong) > 0 {
					t.Errorf("%d succeeded, %d bodies; %.300q", l.Succeeded, bodies, wrong)
				}
			})
		})
	}
}
