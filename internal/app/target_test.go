package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
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
