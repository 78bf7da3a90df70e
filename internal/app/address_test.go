package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/secret"
)

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
