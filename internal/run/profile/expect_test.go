package profile

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/jsonpath"
)

const withExpect = "contenders: [a]\nsteps: [1]\nvariables: {item: {from: 1, to: 9}, once: {from: 1, to: 99, draw: once}, " +
	"b: {file: b.csv}, now: now}\nrequests:\n  - {get: '/{item}', expect: %s}\n"

func readExpect(t *testing.T, expect string) (bench.Profile, error) {
	t.Helper()
	return Parse("p.yaml", []byte(strings.Replace(withExpect, "%s", expect, 1)))
}

// Numbers of expectations stay exact in what --resume reads.
func TestExpectedNumbersStayExact(t *testing.T) {
	t.Chdir(t.TempDir())
	testenv.OK(t, os.WriteFile("b.csv", []byte("guest\nAda\n"), 0o600))
	p, err := readExpect(t, `{json_includes: {id: 18446744073709551615, list: [0.1000000000000000055511151231257827, 1e400, 7, 1.5, "1e400", "10.0", "02142"]}}`)
	testenv.OK(t, err)
	saved, err := json.Marshal(p.Requests)
	testenv.OK(t, err)
	var resumed []bench.Request
	testenv.OK(t, json.Unmarshal(saved, &resumed))
	one, _ := json.Marshal(p.Requests[0].Expect)
	other, _ := json.Marshal(resumed[0].Expect)
	testenv.Equal(t, string(other), string(one))
	testenv.Contains(t, string(other), `"id":18446744073709551615,`)
}

// What cannot be saved is refused.
func TestExpectationsThatCannotBeSaved(t *testing.T) {
	for expect, wrong := range map[string]string{
		`{contains: 1e999}`: "p.yaml:5: a number that is too large: at most 1,000 digits and an exponent from -400 to 400; put a text",
		`{json: [` + strings.Repeat("1,", jsonpath.MaxValues) + `]}`: "p.yaml:5: JSON with too many values",
	} {
		_, err := readExpect(t, expect)
		testenv.Fails(t, err, wrong)
	}
}

// A body goes as written; what YAML would change is refused.
func TestNumbersOfBodiesGoAsWritten(t *testing.T) {
	const text = "contenders: [a]\nsteps: [1]\nrequests: [{post: /, json: %s}]\n"
	for body, want := range map[string]string{
		`{big: 18446744073709551615, price: 10.00, rate: 1e3}`: `{"big":18446744073709551615,"price":10.00,"rate":1e3}`,
		`{zip: "02142", none: ~, version: "1.10"}`:             `{"zip":"02142","none":null,"version":"1.10"}`,
	} {
		p, err := Parse("p.yaml", []byte(strings.Replace(text, "%s", body, 1)))
		testenv.OK(t, err)
		testenv.Equal(t, p.Requests[0].Body, want, body)
	}
}
