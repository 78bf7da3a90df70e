package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/benchtest"
	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/secret"
)

func TestParseTargets(t *testing.T) {
	for name, tt := range map[string]struct {
		targets    []string
		contenders []string
		profiled   bool
		want       string // name@URL, and the request
		wrong      string
	}{
		"origin":                 {targets: []string{"http://127.0.0.1:8101"}, want: "target@http://127.0.0.1:8101 request /"},
		"slash":                  {targets: []string{"http://127.0.0.1:8101/"}, want: "target@http://127.0.0.1:8101 request /"},
		"query":                  {targets: []string{"http://127.0.0.1:8101/items?q=lamp"}, want: "target@http://127.0.0.1:8101 request /items?q=lamp"},
		"path":                   {targets: []string{"http://127.0.0.1:8101/items/7"}, want: "target@http://127.0.0.1:8101 request /items/7"},
		"slash at the end":       {targets: []string{"http://127.0.0.1:8101/items/"}, want: "target@http://127.0.0.1:8101 request /items/"},
		"no scheme":              {targets: []string{"127.0.0.1:8101/x"}, want: "target@http://127.0.0.1:8101 request /x"},
		"base of a profile":      {targets: []string{"http://127.0.0.1:8101/api"}, profiled: true, want: "target@http://127.0.0.1:8101/api request "},
		"contender":              {targets: []string{"http://127.0.0.1:8101"}, contenders: []string{"go-nethttp"}, want: "go-nethttp@http://127.0.0.1:8101 request "},
		"two":                    {targets: []string{"old=http://127.0.0.1:1", "new=https://127.0.0.1:2"}, want: "old@http://127.0.0.1:1 new@https://127.0.0.1:2 request /"},
		"equals sign in a query": {targets: []string{"http://127.0.0.1:1/?a=http://x"}, want: "target@http://127.0.0.1:1 request /?a=http://x"},
		"two without names":      {targets: []string{"http://127.0.0.1:1", "http://127.0.0.1:2"}, wrong: "name each target: --target NAME=URL, not --target http://127.0.0.1:1"},
		"one name twice":         {targets: []string{"a=http://u:secret@127.0.0.1:1", "a=http://127.0.0.1:2"}, wrong: "two targets are named a: http://127.0.0.1:1 and http://127.0.0.1:2"},
		"different paths":        {targets: []string{"a=http://127.0.0.1:1/x", "b=http://127.0.0.1:2/y"}, wrong: "different paths, /x and /y"},
		"named twice":            {targets: []string{"a=http://127.0.0.1:1"}, contenders: []string{"b"}, wrong: "already names the contender"},
		"query and profile":      {targets: []string{"http://127.0.0.1:1/?a=1"}, profiled: true, wrong: "remove the query"},
		"fragment":               {targets: []string{"http://127.0.0.1:1/#top"}, wrong: "remove the fragment"},
		"another scheme":         {targets: []string{"ftp://127.0.0.1"}, wrong: "expected a URL such as"},
	} {
		t.Run(name, func(t *testing.T) {
			targets, request, err := parseTargets(RunOptions{Changes: profile.Changes{"target": tt.targets}, Contenders: tt.contenders, ProfileNamed: tt.profiled})
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v, want %q", err, tt.wrong)
				}
				return
			}
			var got []string
			for _, target := range targets {
				got = append(got, target.Name+"@"+target.URL)
			}
			text := fmt.Sprintf("%s request %s", strings.Join(got, " "), request)
			testenv.Check(t, err == nil && text == tt.want, "%q, %v, want %q", text, err, tt.want)
		})
	}
}

func TestNewPlan_Targets(t *testing.T) {
	plan, err := NewPlan(RunOptions{Profile: "quick", Changes: profile.Changes{"target": {"old=http://127.0.0.1:1/x?y=1", "new=http://127.0.0.1:2/x?y=1"}}})
	testenv.OK(t, err)
	p := plan.Run.Profile
	if len(p.Contenders) != 2 || p.Runtime != bench.RuntimeURL || len(p.Needs) != 0 || len(p.Requests) != 1 || p.Requests[0].Path != "/x?y=1" {
		t.Errorf("%+v", p)
	}
	svc := plan.Services[bench.Selection{Contender: "new"}]
	testenv.Check(t, svc.URL == "http://127.0.0.1:2", "%+v", svc)
}

// TestStoreFromEnvironment: a password from the environment is not in the plan, which is saved, but
// where the store is opened; a resumed run needs the URL again.
func TestStoreFromEnvironment(t *testing.T) {
	const given = "http://${ES_USER}:${ES_PASSWORD}@10.0.0.5:9200"
	getenv := func(name string) string {
		return map[string]string{"ES_USER": "reader", "ES_PASSWORD": "hunter2hunter2"}[name]
	}
	plan, err := NewPlan(RunOptions{
		Profile: "locations", Contenders: []string{"go-nethttp"}, Changes: profile.Changes{"elastic": {given}}, Getenv: getenv,
		Command: []string{"run", "--elastic", given, "--elastic=" + given},
	})
	testenv.OK(t, err)
	testenv.Equal(t, plan.urls["elasticsearch"], "http://reader:hunter2hunter2@10.0.0.5:9200", "planned at")
	text := secret.New(plan.secrets(getenv)...).Text("said hunter2hunter2")
	testenv.Check(t, !strings.Contains(text, "hunter2"), "%v", text)
	run := plan.Run
	data, err := json.Marshal(run)
	if err != nil || strings.Contains(string(data), "hunter2") || run.Command[3] != given || run.Command[4] != "--elastic="+given {
		t.Errorf("%q, %v", run.Command, err)
	}
	testenv.Fails(t, testenv.Err(resumedPlan(t, run, RunOptions{})), "--elastic 'http://${USER_NAME}:${PASSWORD}@10.0.0.5:9200'")
	run.State = bench.RunInterrupted
	dir := saved(t, run)
	again, err := NewPlan(RunOptions{Resume: dir, Changes: profile.Changes{"elastic": {given}}, Getenv: getenv})
	testenv.Check(t, err == nil && again.urls["elasticsearch"] == plan.urls["elasticsearch"],
		"resumed at %s, %v", again.urls, err)
}

// TestMemoryOfAnotherMachine: this machine's free memory says nothing about an engine elsewhere.
func TestMemoryOfAnotherMachine(t *testing.T) {
	known := machine.Available() > 0
	for _, c := range []struct {
		host    string
		runtime bench.Runtime
		known   bool
	}{
		{"tcp://192.0.2.7:2376", bench.RuntimeDocker, false},
		{"tcp://192.0.2.7:2376", bench.RuntimeAuto, false},
		{"tcp://192.0.2.7:2376", bench.RuntimeProcess, known},
		{"unix:///nowhere.sock", bench.RuntimeDocker, known},
	} {
		t.Setenv("DOCKER_HOST", c.host)
		testenv.Equal(t, Available(c.runtime) > 0, c.known, c.host, c.runtime)
	}
}

// A resumed run has the engine on record, whatever the environment says now; an engine on record
// that is none, or does not apply, is refused.
func TestResumedRunHasItsEngine(t *testing.T) {
	p, err := PlannedProfile(RunOptions{Profile: "quick"})
	testenv.OK(t, err)
	resume := func(engine bench.Engine, targets ...bench.Target) (Plan, error) {
		dir := saved(t, bench.Run{Schema: bench.SchemaVersion, ID: "r", Profile: p, Engine: engine, Targets: targets,
			Trials: []bench.TrialEntry{benchtest.Entry("go-nethttp", 1, bench.TrialPending)}})
		return NewPlan(RunOptions{Resume: dir, Getenv: func(key string) string { return map[string]string{engineVariable: "vegeta"}[key] }})
	}
	for _, engine := range []bench.Engine{"", "vegeta"} {
		plan, err := resume(engine)
		testenv.OK(t, err)
		testenv.Equal(t, plan.Run.Engine, engine)
	}
	testenv.Fails(t, testenv.Err(resume("warp\x1b")), `is not a load engine (use auto, fast, vegeta)`)
	secure := bench.Target{Name: "go-nethttp", URL: "https://127.0.0.1:1"}
	testenv.Fails(t, testenv.Err(resume("fast", secure)), "load engine fast does not apply to this run: ")
}

// A header is given again only where one request had it: others may have had another value.
func TestFillHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		headers []map[string]string // of the requests
		given   []string
		want    string // the first request's header Cookie
		wrong   string
	}{
		"one":            {[]map[string]string{{"Cookie": secret.Mask, "A": "b"}, nil}, []string{"cookie: x=1"}, "x=1", ""},
		"none":           {[]map[string]string{{"Cookie": secret.Mask}}, nil, "", "secret headers were not saved; give them again with --header 'NAME: VALUE': Cookie "},
		"two requests":   {[]map[string]string{{"Cookie": secret.Mask}, {"Cookie": secret.Mask}}, []string{"Cookie: x=1"}, "", `secret header Cookie of request "0" was not saved. Start a new run`},
		"another":        {[]map[string]string{{"Cookie": secret.Mask}}, []string{"A: b"}, "", "--header A: is on record; omit it"},
		"nothing masked": {[]map[string]string{{"Cookie": "x=${COOKIE}"}}, nil, "x=${COOKIE}", ""},
		"braces":         {[]map[string]string{{"Cookie": secret.Mask}}, []string{"Cookie: x={a}"}, "x={{a}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var p bench.Profile
			for i, h := range tt.headers {
				p.Requests = append(p.Requests, bench.Request{Name: string('0' + rune(i)), Header: h})
			}
			err := fillHeaders(&p, profile.One{Headers: tt.given})
			if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) || tt.wrong == "" && (err != nil || p.Requests[0].Header["Cookie"] != tt.want) {
				t.Errorf("%v, %q", err, p.Requests[0].Header)
			}
		})
	}
}
