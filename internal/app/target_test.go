package app

import (
	"fmt"
	"strings"
	"testing"

	"locbench/internal/bench"
	"locbench/internal/run/profile"
)

func TestParseTargets(t *testing.T) {
	for name, tt := range map[string]struct {
		targets    []string
		contenders []string
		profiled   bool
		want       string // name@URL, and what is asked
		wrong      string
	}{
		"origin":                 {targets: []string{"http://127.0.0.1:8101"}, want: "target@http://127.0.0.1:8101 asked /"},
		"slash":                  {targets: []string{"http://127.0.0.1:8101/"}, want: "target@http://127.0.0.1:8101 asked /"},
		"query":                  {targets: []string{"http://127.0.0.1:8101/items?q=lamp"}, want: "target@http://127.0.0.1:8101 asked /items?q=lamp"},
		"path":                   {targets: []string{"http://127.0.0.1:8101/items/7"}, want: "target@http://127.0.0.1:8101 asked /items/7"},
		"slash at the end":       {targets: []string{"http://127.0.0.1:8101/items/"}, want: "target@http://127.0.0.1:8101 asked /items/"},
		"no scheme":              {targets: []string{"127.0.0.1:8101/x"}, want: "target@http://127.0.0.1:8101 asked /x"},
		"base of a profile":      {targets: []string{"http://127.0.0.1:8101/api"}, profiled: true, want: "target@http://127.0.0.1:8101/api asked "},
		"contender":              {targets: []string{"http://127.0.0.1:8101"}, contenders: []string{"go-nethttp"}, want: "go-nethttp@http://127.0.0.1:8101 asked "},
		"two":                    {targets: []string{"old=http://127.0.0.1:1", "new=https://127.0.0.1:2"}, want: "old@http://127.0.0.1:1 new@https://127.0.0.1:2 asked /"},
		"equals sign in a query": {targets: []string{"http://127.0.0.1:1/?a=http://x"}, want: "target@http://127.0.0.1:1 asked /?a=http://x"},
		"two without names":      {targets: []string{"http://127.0.0.1:1", "http://127.0.0.1:2"}, wrong: "several services need names: --target NAME=URL instead of --target http://127.0.0.1:1"},
		"one name twice":         {targets: []string{"a=http://u:secret@127.0.0.1:1", "a=http://127.0.0.1:2"}, wrong: "two targets are called a: http://127.0.0.1:1 and http://127.0.0.1:2"},
		"different paths":        {targets: []string{"a=http://127.0.0.1:1/x", "b=http://127.0.0.1:2/y"}, wrong: "different paths, /x and /y"},
		"named twice":            {targets: []string{"a=http://127.0.0.1:1"}, contenders: []string{"b"}, wrong: "names its contender already"},
		"query and profile":      {targets: []string{"http://127.0.0.1:1/?a=1"}, profiled: true, wrong: "a query has no place in the address"},
		"fragment":               {targets: []string{"http://127.0.0.1:1/#top"}, wrong: "a fragment (#…) is never sent"},
		"another scheme":         {targets: []string{"ftp://127.0.0.1"}, wrong: "is not the URL of a service"},
	} {
		t.Run(name, func(t *testing.T) {
			targets, asked, err := parseTargets(RunOptions{Changes: profile.Changes{"target": tt.targets}, Contenders: tt.contenders, ProfileNamed: tt.profiled})
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
			if text := fmt.Sprintf("%s asked %s", strings.Join(got, " "), asked); err != nil || text != tt.want {
				t.Errorf("%q, %v, want %q", text, err, tt.want)
			}
		})
	}
}

func TestNewPlan_Targets(t *testing.T) {
	plan, err := NewPlan(RunOptions{Profile: "quick", Changes: profile.Changes{"target": {"old=http://127.0.0.1:1/x?y=1", "new=http://127.0.0.1:2/x?y=1"}}})
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Run.Profile
	if len(p.Contenders) != 2 || p.Runtime != bench.RuntimeURL || p.Store.Kind != bench.StoreNone || len(p.Requests) != 1 || p.Requests[0].Path != "/x?y=1" {
		t.Errorf("%+v", p)
	}
	if svc := plan.Services[bench.Selection{Contender: "new"}]; svc.URL != "http://127.0.0.1:2" {
		t.Errorf("%+v", svc)
	}
}
