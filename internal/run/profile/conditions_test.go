package profile

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender/check"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/jsonpath"
)

func TestConditionsCheck(t *testing.T) {
	load := bench.Load{
		Elapsed: 10 * time.Second, Outcomes: bench.Outcomes{Succeeded: 9980, Failed: map[bench.ErrorKind]int64{bench.ErrTimeout: 5}}, Counts: bench.Counts{Dropped: 15},
		Latency: bench.Latencies{Count: 9980, Mean: time.Millisecond, P50: time.Millisecond, P75: 2 * time.Millisecond, P90: 3 * time.Millisecond,
			P95: 4 * time.Millisecond, P99: 50 * time.Millisecond, P999: 60 * time.Millisecond, Max: 70 * time.Millisecond},
	}
	for text, want := range map[string]string{
		"p99<50ms":           "p99 is 50ms, not <50ms",
		"p99<=50ms":          "",
		"p50<1001us":         "",
		"p75<2ms":            "p75 is 2ms, not <2ms",
		"p90<3ms":            "p90 is 3ms, not <3ms",
		"p95<4ms":            "p95 is 4ms, not <4ms",
		"p99.9<60ms":         "p99.9 is 60ms, not <60ms",
		"mean<1ms":           "mean is 1ms, not <1ms",
		"max<70ms":           "max is 70ms, not <70ms",
		"errors<0.2%":        "errors is 0.2%, not <0.2%", // 5 failed and 15 never sent, of 10,000
		"errors<=0.2%":       "",
		"throughput>998/s":   "throughput is 998/s, not >998/s",
		"throughput>=998/s":  "",
		"throughput>=1000/s": "throughput is 998/s, not >=1000/s",
	} {
		t.Run(text, func(t *testing.T) {
			o := testenv.Must(ParseConditions(text))(t)
			testenv.Equal(t, strings.Join(o.Missed(load), ""), want, text)
			if all := o.Check(load); len(all) != 1 || all[0].Passed != (want == "") || all[0].Condition != o.String() || all[0].Value == nil {
				t.Errorf("results: %+v", all)
			}
		})
	}
}

// A step without any success meets no condition.
func TestConditionsCheckWithoutSuccess(t *testing.T) {
	o, _ := ParseConditions("p99<50ms,errors<100%,throughput>=0/s")
	if missed := o.Missed(bench.Load{}); len(missed) != 3 {
		t.Errorf("an empty step misses only %v", missed)
	} else if missed[0] != "p99 is unknown: no success" {
		t.Error(missed[0])
	}
}

func FuzzParseConditions(f *testing.F) {
	f.Add("p99<50ms,errors<0.1%")
	f.Add("throughput>=1/s , p99.9 <= 1h")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseConditions(text)
		if err != nil {
			return
		}
		again, err := ParseConditions(o.String())
		testenv.Need(t, err == nil && len(again) == len(o),
			"%q is written as %q and read back as %q: %v", text, o, again, err)
	})
}

func TestErrorsAreEstimatedFromComparedBodies(t *testing.T) {
	conditions := testenv.Must(ParseConditions("errors<0.1%"))(t)
	load := bench.Load{Outcomes: bench.Outcomes{Succeeded: 9997, Checked: 114, Failed: map[bench.ErrorKind]int64{bench.ErrWrong: 3}}}
	testenv.Check(t, len(conditions.Missed(load)) == 1,
		"3 of 114 compared bodies are unexpected, and errors<0.1%% is met")
}

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
	saved := testenv.Must(json.Marshal(p.Requests))(t)
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
		testenv.Fails(t, testenv.Err(readExpect(t, expect)), wrong)
	}
}

// A body goes as written; what YAML would change is refused.
func TestNumbersOfBodiesGoAsWritten(t *testing.T) {
	const text = "contenders: [a]\nsteps: [1]\nrequests: [{post: /, json: %s}]\n"
	for body, want := range map[string]string{
		`{big: 18446744073709551615, price: 10.00, rate: 1e3}`: `{"big":18446744073709551615,"price":10.00,"rate":1e3}`,
		`{zip: "02142", none: ~, version: "1.10"}`:             `{"zip":"02142","none":null,"version":"1.10"}`,
	} {
		p := testenv.Must(Parse("p.yaml", []byte(strings.Replace(text, "%s", body, 1))))(t)
		testenv.Equal(t, p.Requests[0].Body, want, body)
	}
}

func TestSettle(t *testing.T) {
	const base = "requests: [{get: /x}]\n"
	for _, c := range []struct {
		name, text string
		available  int64
		runtime    bench.Runtime
		reason     bench.PlainReason
		rounds     int
		slice      time.Duration
	}{
		{"two", "contenders: [a, b]\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"unknown memory", "contenders: [a, b]\nlimits: {memory: 9GiB}\nsteps: [3]\n", 0, "", "", 8, Slice},
		{"fits", "contenders: [a, b]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 3 << 30, "", "", 8, Slice},
		{"a byte short", "contenders: [a, b]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 3<<30 - 1, "", bench.PlainMemory, 6, 0},
		{"two quotas", "contenders: [a, {b: {cpus: 0.5}}]\nlimits: {cpus: 1}\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"a quota and none", "contenders: [a, {b: {cpus: 0.5}}]\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"the same own quota", "contenders: [a, {b: {cpus: 1}}]\nlimits: {cpus: 1}\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"two quotas by choice", "contenders: [a, {b: {cpus: 0.5}}]\ninterleave: 1s\nsteps: [3]\n", 8 << 30, "", "", 8, time.Second},
		{"own limits fit", "contenders: [a, {b: {memory: 512MiB}}]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 5 << 29, "", "", 8, Slice},
		{"own limits, a byte short", "contenders: [a, {b: {memory: 512MiB}}]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 5<<29 - 1, "", bench.PlainMemory, 6, 0},
		{"own limit above that of all", "contenders: [a, {b: {memory: 2GiB}}]\nlimits: {memory: 1GiB}\nsteps: [3]\n", 4<<30 - 1, "", bench.PlainMemory, 6, 0},
		{"four without limit, one with", "contenders: [a, b, c, d, {e: {memory: 1GiB}}]\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"five without limit, one with", "contenders: [a, b, c, d, e, {f: {memory: 1GiB}}]\nsteps: [3]\n", 8 << 30, "", bench.PlainContenders, 6, 0},
		{"four without limit", "contenders: [a, b, c, d]\nsteps: [3]\n", 1, "", "", 8, Slice},
		{"five without limit", "contenders: [a, b, c, d, e]\nsteps: [3]\n", 1, "", bench.PlainContenders, 6, 0},
		{"five targets", "contenders: [a, b, c, d, e]\nsteps: [3]\n", 1, bench.RuntimeURL, "", 8, Slice},
		{"two quotas of targets", "contenders: [a, {b: {cpus: 0.5}}]\nsteps: [3]\n", 1, bench.RuntimeURL, "", 8, Slice},
		{"one", "contenders: [a]\nsteps: [3]\n", 8 << 30, "", bench.PlainAlone, 1, 0},
		{"ramp", "contenders: [a, b]\nsteps: [{connections: {from: 1, to: 9}}]\n", 8 << 30, "", bench.PlainSteps, 6, 0},
		{"arrivals", "contenders: [a, b]\nsteps: [{arrivals: {users: 9, over: 1s, requests: 1}}]\n", 8 << 30, "", bench.PlainSteps, 6, 0},
		{"number of requests", "contenders: [a, b]\nsteps: [{connections: 3, max_requests: 9}]\n", 8 << 30, "", bench.PlainSteps, 6, 0},
		{"first requests", "contenders: [a, b]\nfirst_requests: {requests: 3}\nsteps: [3]\n", 8 << 30, "", bench.PlainFirstRequests, 6, 0},
		{"seven rounds", "contenders: [a, b]\nrounds: 7\nsteps: [3]\n", 8 << 30, "", bench.PlainRounds, 7, 0},
		{"eight rounds", "contenders: [a, b]\nrounds: 8\nsteps: [3]\n", 8 << 30, "", "", 8, Slice},
		{"off", "contenders: [a, b]\ninterleave: off\nsteps: [3]\n", 8 << 30, "", bench.PlainChosen, 6, 0},
		{"none, ten rounds", "contenders: [a, b]\ninterleave: none\nrounds: 10\nsteps: [3]\n", 8 << 30, "", bench.PlainChosen, 10, 0},
		{"by choice", "contenders: [a, b]\nrounds: 2\ninterleave: 250ms\nsteps: [3]\n", 1, "", "", 2, 250 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testenv.Must(Parse("p.yaml", []byte(base+c.text)))(t)
			if c.runtime != "" {
				p.Runtime = c.runtime
			}
			got, why := Settle(p, c.available)
			var reason bench.PlainReason
			if why != nil {
				reason = why.Reason
			}
			testenv.Check(t, reason == c.reason && got.Rounds == c.rounds && got.Interleave == c.slice,
				"%+v, %d rounds, every %v", why, got.Rounds, got.Interleave)
			again, _ := Settle(got, 1)
			testenv.Check(t, again.Interleave == got.Interleave && again.Rounds == got.Rounds,
				"a recorded choice changed: %v, %d rounds", again.Interleave, again.Rounds)
		})
	}
}

func TestInterleaveBounds(t *testing.T) {
	for text, ok := range map[string]bool{"auto": true, "off": true, "none": true, "50ms": true, "1m": true, "49ms": false, "61s": false, "-1ns": false, "yes": false, "": false} {
		_, err := readInterleave(text)
		testenv.Check(t, (err == nil) == ok && (err == nil || strings.Contains(err.Error(), "write auto, off")),
			"%q: %v", text, err)
	}
}

// The schema of a place in an OpenAPI document is kept with what it refers to.
func TestSchemasOfOpenAPIAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	const doc = `{"openapi": "3.0.0", "components": {"schemas": {"A": {"type": "object", "description": "{b}", "properties": {"n": {"$ref": "#/components/schemas/N"},
"x": {"$ref": "#/components/schemas/A"}}}, "N": {"nullable": true, "type": "integer", "maximum": 18446744073709551615}}}}`
	for name, text := range map[string]string{"api.json": doc, "b.csv": "guest\nAda\n"} {
		testenv.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	p := testenv.Must(readExpect(t, `{schema: "api.json#/components/schemas/A"}`))(t)
	testenv.OK(t, os.Remove("api.json"))
	const want = `{"schema":{"$defs":{"/components/schemas/N":{"maximum":18446744073709551615,"nullable":true,"type":"integer"}},"properties":{"n":{"$ref":"#/$defs/~1components~1schemas~1N"},` +
		`"x":{"$ref":"#"}},"type":"object"}}`
	got := testenv.Must(json.Marshal(p.Requests[0].Expect))(t)
	testenv.Equal(t, string(got), want)
	saved := testenv.Must(check.ParseExpect(p.Requests[0].Expect))(t)
	for body, right := range map[string]bool{`{"n":null,"x":{"n":18446744073709551615}}`: true, `{"x":{"n":18446744073709551616}}`: false} {
		err := saved.Judge(check.Sent{Status: 200, Body: []byte(body)})
		testenv.Check(t, (err == nil) == right, "%s: %v", body, err)
	}
}

// Double braces are the text in single ones, not a variable as other tools write it: refused.md.
func TestDoubleBraces(t *testing.T) {
	p := testenv.Must(Parse("p.yaml", []byte("requests: [{post: /x, body: 'u={{user}}'}]\nsteps: [1]\n")))(t)
	testenv.Equal(t, bench.Parts(p.Requests[0].Body), []bench.Part{{Text: "u={user}"}})
}
