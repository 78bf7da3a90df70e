package workload

import (
	"errors"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/values"
)

// A check gets the values that the request was sent with: drawn, of a row, saved in the session.
func TestChecksGetTheValuesOfTheRequest(t *testing.T) {
	var got []string
	m, err := NewMix(Spec{
		BaseURL: "http://127.0.0.1:1", Step: bench.Step{Connections: 1, Duration: bench.Duration(1e9)}, Seed: 1, CheckEvery: 1,
		Variables: []bench.Variable{{Name: "item", Range: &bench.Range{From: 1, To: 1000}}},
		Sessions:  []bench.Session{{Name: "s", Weight: 1}},
		Requests: []bench.Request{
			{Name: "a", Session: "s", Path: "/items/{item}", Save: []bench.Save{{Name: "bid", From: bench.FromJSON, Of: "id"}}},
			{Name: "b", Session: "s", Path: "/bids", Expect: bench.Expectation{"json": map[string]any{"id": "{bid}", "item": "{item:number}"}}},
		},
		Check: func(a Response) error {
			if a.Request == "b" {
				got = append(got, a.Value("item"), a.Value("bid"))
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var u User
	if err := m.Begin(&u); err != nil {
		t.Fatal(err)
	}
	r, sent := m.Write(&u, nil)
	path := strings.Fields(string(sent))[1]
	if _, kind, why := m.CheckResponse(&u, r, Response{Status: 200, Body: []byte(`{"id":"x-9"}`)}); kind != "" {
		t.Fatal(why)
	}
	u.Done(false)
	r, _ = m.Write(&u, nil)
	m.CheckResponse(&u, r, Response{Status: 200})
	if len(got) != 2 || "/items/"+got[0] != path || got[1] != "x-9" {
		t.Errorf("%q after %s", got, path)
	}
}

// An empty value and null are not saved.
func TestEmptyValuesAreNotSaved(t *testing.T) {
	for body, want := range map[string]string{
		`{"t":""}`: "the value of t is empty", `{"t":null}`: "the value of t is null", `{"t":"null"}`: "", `{"t":0}`: "",
	} {
		for _, use := range []values.Use{{}, {JSON: true}} {
			s, err := newSave(bench.Save{Name: "t", From: bench.FromJSON, Of: "t"}, 0, use)
			if err != nil {
				t.Fatal(err)
			}
			err = s.take(Response{Body: []byte(body)}, &slot{})
			if err == nil {
				err = errors.New("")
			}
			if use.JSON && body == `{"t":"null"}` {
				continue
			}
			if err.Error() != want {
				t.Errorf("%s: %v, want %q", body, err, want)
			}
		}
	}
}
