package load

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// By the server's journal, what is in files is sent: a spreadsheet's columns of one row together,
// each row and each element of a list as often as the others, numbers as written.
func TestValuesOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv": "\ufeff\"User Name\";\"Password\"\r\n\"ada\";\"a;1\"\r\nbob;b 2\r\n;\r\n", "words.json": "[\"l\u00e4mp\",\n1.10]\n",
		"latin1.csv": "a\r\nGr\xf6\xdfe\r\n", "prices.json": "{\"p\": 18446744073709551615}\n{\"p\": 2.50}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(v bench.Variable, file string) bench.Variable {
		v.File, v.Draw = filepath.Join(dir, file), bench.DrawInTurn
		return v
	}
	eachLoop(t, func(t *testing.T, e Engine) {
		var mu sync.Mutex
		seen := map[string]int{}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			seen[r.URL.RequestURI()+" "+string(body)]++
		}))
		t.Cleanup(s.Close)
		p := counted(s.URL, 1, 400)
		p.IDs = nil
		p.Variables = []bench.Variable{
			file(bench.Variable{Name: "user"}, "users.csv"), file(bench.Variable{Name: "word"}, "words.json"),
			file(bench.Variable{Name: "latin", Column: "a", Encoding: "latin1"}, "latin1.csv"), file(bench.Variable{Name: "price", Column: "p"}, "prices.json"),
		}
		p.Requests = []bench.Request{{
			Name: "a", Weight: 1, Method: "POST", Path: "/{user.User Name}?w={word}&l={latin}", Encoding: bench.JSONBody,
			Body: `{"p":"{user.Password}","price":"{price:number}"}`,
		}}
		var err error
		if p.Data, err = values.OpenData(p.Variables, p.Requests); err != nil {
			t.Fatal(err)
		}
		l := run(t, e, p)
		mu.Lock()
		defer mu.Unlock()
		want := map[string]int{
			`/ada?w=l%C3%A4mp&l=Gr%C3%B6%C3%9Fe {"p":"a;1","price":18446744073709551615}`: 200,
			`/bob?w=1.10&l=Gr%C3%B6%C3%9Fe {"p":"b 2","price":2.50}`:                      200,
		}
		if !maps.Equal(seen, want) || len(l.Failed) > 0 {
			t.Errorf("%v, failed %v", seen, l.Failed)
		}
	})
}
