package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/jsonpath"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

func expectation(t testing.TB, text string) (e Expect) {
	t.Helper()
	err := strictyaml.DecodeThen("expect", []byte(text), new(any), func(v strictyaml.Value) { e = ReadExpect(v) })
	testenv.OK(t, err)
	return e
}

func listOf(n int, item func(int) string) string {
	var items []string
	for i := range n {
		items = append(items, item(i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

// What is usual is not refused: many objects, each with a few properties.
func TestExpect_LongLists(t *testing.T) {
	e := expectation(t, `{schema: {type: array, items: {type: object, required: [id, name], additionalProperties: false,
	  properties: {id: {type: integer, minimum: 0}, name: {type: string, minLength: 1, pattern: "^n"}, kind: {enum: [a, b, c]}, price: {type: number}}}}}`)
	item := func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"n%d","kind":"c","price":1.5e2}`, i, i) }
	testenv.OK(t, e.Judge(Sent{Status: 200, Body: []byte(listOf(20_000, item))}))
	wrong := listOf(300, item)
	wrong = wrong[:len(wrong)-1] + `,{"id":-1,"name":"n"}]`
	testenv.Fails(t, e.Judge(Sent{Status: 200, Body: []byte(wrong)}), "/300/id")
}

// A schema is one document of at most 1 MiB, and its mismatches are few.
func TestReadSchema_Size(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.json")
	for size, ok := range map[int]bool{maxSchema: true, maxSchema + 1: false} {
		text := `{"enum":["` + strings.Repeat("x", size-13) + `"]}`
		testenv.OK(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err := readSchema(file, ""); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "larger than 1 MiB") {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	j := testenv.Must(newJudge(map[string]any{"items": map[string]any{"type": "string"}}))(t)
	doc := testenv.Must(jsonpath.Decode([]byte(listOf(1000, func(int) string { return "1" }))))(t)
	all, ok := errors.AsType[*jsonschema.ValidationError](j.validate(j.schema, doc, maxExplained))
	testenv.Need(t, ok, "no mismatch")
	left := maxCauses
	shorten(all, &left)
	testenv.Equal(t, len(all.Causes), 20)
}

// Responses are compared at the same time, each within its own budget.
func TestExpect_Parallel(t *testing.T) {
	e := expectation(t, `{schema: {items: {minimum: 1}}}`)
	good, bad := []byte(listOf(1000, func(int) string { return "1" })), []byte(listOf(1000, func(int) string { return "0" }))
	var all sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for range 20 {
				testenv.Fails(t, e.Judge(Sent{Status: 200, Body: good}), "")
				testenv.Check(t, e.Judge(Sent{Status: 200, Body: bad}) != nil, "0 is at least 1")
			}
		})
	}
	all.Wait()
}
