package cli

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/setup"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/profiles"
)

// TestSetup draws random setups and parses their arguments with the flags of
// 'locbench run': the plan is the one on the screen, with each value, and the arguments preset the
// same setup again.
func TestSetup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	valid := 0
	for range 400 {
		c := setup.Choice{Profile: pick("quick", "locations"), Set: profile.Changes{}}
		set := func(flag string, values ...string) {
			if r.IntN(3) == 0 {
				c.Set[flag] = []string{pick(values...)}
			}
		}
		set("rounds", "1", "6", "100")
		set("cpus", "0.5", "2")
		set("cpu-set", "1", "16")
		set("memory", "1GiB", "64MiB", "-1", "nonsense")
		set("connections", "1,8", "1 x5 warm-up, 2..2048 doubling", " 4 ", "2..32 doubling,64 for 20s", "1 warm-up")
		set("duration", "1s", "2m30s")
		set("interleave", "100ms", "0s", "1ms")
		set("runtime", "docker", "process", "auto")
		switch r.IntN(4) {
		case 0:
			c.Set["store"] = []string{pick("embedded", "container", "auto", "none")}
		case 1:
			c.Set["store"] = []string{"external"}
			c.Set["elastic"] = []string{pick("http://10.0.0.5:9200", "http://me:s e'cret@h:1/x?y", "http://me:pass@h:1")}
		}
		switch r.IntN(4) {
		case 0:
			c.Set["cities"] = []string{pick("1", "100000")}
		case 1:
			c.Set["data"] = []string{pick("bundled", "./dump", "a b,c'\"$(x)", "-x")}
		}
		if r.IntN(3) == 0 {
			c.Contenders = []bench.Selection{{Contender: "go-nethttp"}, {Contender: "x", Variant: "lto"}}
		}
		if r.IntN(5) == 0 {
			c.Extra = []string{`--services="a,b"`}
			c.Set["no-checks"], c.Set["seed"], c.Set["threshold"] = []string{"true"}, []string{"7"}, []string{"p99<1s,errors<1%"}
		}
		base, err := profile.Load(c.Profile, profiles.FS)
		testenv.OK(t, err)
		shown, shownErr := profile.Change(base, c.Changes(), nil)
		plan, planErr := planOf(c.Args()...)
		if (shownErr == nil) != (planErr == nil) || shownErr != nil && shownErr.Error() != planErr.Error() {
			t.Fatalf("%q: the screen says %v, the command line %v", c.Args(), shownErr, planErr)
		}
		again, services, err := setupChoice(c.Args())
		samePlan, sameErr := planOf(again.Args()...)
		if err != nil || !reflect.DeepEqual(samePlan, plan) || (sameErr == nil) != (planErr == nil) || c.Extra != nil && !slices.Equal(services, []string{"a,b"}) {
			t.Fatalf("%q begins %q, services %q, %v", c.Args(), again.Args(), services, err)
		}
		if planErr != nil {
			continue
		}
		valid++
		if !reflect.DeepEqual(shown, plan) {
			t.Fatalf("%q:\nscreen       %+v\ncommand line %+v", c.Args(), shown, plan)
		}
		planHas(t, c, plan)
	}
	if valid < 50 {
		t.Errorf("only %d setups are valid", valid)
	}
}

// planHas fails unless the plan has each value of a choice.
func planHas(t *testing.T, c setup.Choice, p bench.Profile) {
	t.Helper()
	got := map[string]string{
		"rounds": strconv.Itoa(p.Rounds), "cpus": strconv.FormatFloat(p.Limits.CPUs, 'f', -1, 64), "cpu-set": strconv.Itoa(p.Limits.CPUSet),
		"runtime": string(p.Runtime), "store": string(p.Store.Kind), "elastic": p.Store.URL, "cities": strconv.Itoa(p.Data.Cities), "data": p.Data.Dir,
		"interleave": p.Interleave.String(),
	}
	if got["data"] == "" {
		got["data"] = "bundled"
	}
	for flag := range c.Set {
		want := c.Set.Text(flag)
		if value, ok := got[flag]; ok && value != want {
			t.Errorf("%q: --%s %s became %s", c.Args(), flag, want, value)
		}
	}
	if c.Contenders != nil && !slices.Equal(c.Contenders, p.Contenders) {
		t.Errorf("%q: contenders %v", c.Args(), p.Contenders)
	}
}

func TestSetup_InvalidOptions(t *testing.T) {
	for args, want := range map[string]string{"--nonsense": "unknown flag", "--mouse=maybe": "invalid", "Not/A/Contender": "Not/A/Contender"} {
		t.Run(args, func(t *testing.T) {
			_, _, err := setupChoice(strings.Fields(args))
			if console.ExitCode(t.Context(), err) != console.ExitUsage || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", args, err)
			}
		})
	}
}
