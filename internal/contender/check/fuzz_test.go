package check

import (
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

var hostileBodies = []string{
	`{"a":1e1000001}`, `[1e400,1e-400]`, `{"a":` + strings.Repeat(`{"a":`, 190) + `1`, "\"\xff\"", `{"a":1,"a":2}`, `[[[[`, `{"id":17}`, ``, `null`,
	"[" + strings.Repeat("1,", 1000) + "1]", `{"message":["id"]}`,
}

// No response and no expectation ends the judge, or holds it for ten seconds.
func FuzzJudge(f *testing.F) {
	for _, expect := range []string{
		`{json: {id: "{item}"}}`, `{at: {"a[*][*]": 1}, some: {$: "{item:json}"}}`, `{present: "a | b", count: {a: {min: 1}}, keys: {$: [id]}}`,
		`{schema: {properties: {a: {minimum: 0, multipleOf: 0.1}}, uniqueItems: true, enum: [1, 2]}}`,
		`{schema: {allOf: [{properties: {a: {$ref: "#"}}}, {properties: {a: {$ref: "#"}}}]}}`,
		`{message: id, contains: x, body: "{item}", header: {A: "{item}"}}`,
	} {
		for _, body := range hostileBodies {
			f.Add(expect, []byte(body), "17")
		}
	}
	f.Fuzz(func(t *testing.T, text string, body []byte, value string) {
		var e Expect
		if len(text) > 2000 || len(body) > maxBody {
			return
		}
		if err := strictyaml.DecodeThen("expect", []byte(text), new(any), func(v strictyaml.Value) { e = ReadExpect(v) }); err != nil {
			return
		}
		held := time.AfterFunc(10*time.Second, func() { panic("the response holds its judge: " + text) })
		err := e.Judge(Sent{Status: 200, Body: body, Value: func(string) string { return value }})
		held.Stop()
		testenv.Need(t, err == nil || !strings.Contains(err.Error(), "cannot be checked"), "%v", err)
	})
}
