package app

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// ofOrders is a manifest of a version of orders.
func ofOrders(version string) string {
	return "name: orders\nlanguage: Go\nframework: none\nversion: '" + version + "'\ndocker: {image: 'orders:1'}\n"
}

// planOf plans a run of a profile in a file of dir.
func planOf(t testing.TB, text, dir, file string, o RunOptions) (Plan, error) {
	o.Profile, o.ProfileNamed = testenv.Write(t, text+"requests: [{path: /}]\nsteps: [1]\n", dir, file), true
	return NewPlan(o)
}

// The key services of a profile is all that a user names: its folder is relative to the profile's
// file, --services replaces it, and the run records it.
func TestServicesOfProfile(t *testing.T) {
	dir := testenv.Folder(t, map[string]string{"team/svc/orders/service.yaml": ofOrders("1"), "other/orders/service.yaml": ofOrders("2")})
	plan := func(services string, options ...string) (Plan, error) {
		return planOf(t, services+"contenders: [orders]\n", dir, "team/p.yaml", RunOptions{Services: options})
	}
	orders := bench.Selection{Contender: "orders"}
	t.Chdir(t.TempDir()) // not the profile's folder
	for _, tt := range []struct {
		key             string
		options         []string
		version, folder string
	}{
		{"services: svc\n", nil, "1", "team/svc"},
		{"services: ../other\n", nil, "2", "other"},
		{"services: svc/orders\n", nil, "1", "team/svc/orders"},
		{"services: svc\n", []string{filepath.Join(dir, "other")}, "2", "other"},
	} {
		p, err := plan(tt.key, tt.options...)
		testenv.OK(t, err)
		testenv.Equal(t, p.Services[orders].Version, tt.version, tt.key, tt.options)
		testenv.Equal(t, p.Run.Services, []string{filepath.Join(dir, tt.folder)}, tt.key, tt.options)
		resumed, err := resumedPlan(t, p.Run, RunOptions{})
		testenv.OK(t, err)
		testenv.Equal(t, resumed.Services[orders].Version, tt.version, tt.key, tt.options)
	}
	for key, want := range map[string]string{
		"": "`services: DIR` in the profile, or --services DIR", "services: nowhere\n": "nowhere", "services: ''\n": "write the path of a folder",
	} {
		err := testenv.Err(plan(key))
		testenv.Fails(t, err, want)
		testenv.Check(t, !strings.Contains(err.Error(), "rs-warp"), "%q: %v", key, err)
	}
}

// A plan applies the settings of each contender: limits, environment, image, folder, name.
func TestPlanAppliesSettings(t *testing.T) {
	manifest := strings.Replace(ofOrders("2"), ":1'", ":new'", 1) + "env: {A: '1', B: '1'}\nvariants: [{name: std}, {name: fast, env: {B: '2'}}]\n"
	dir := testenv.Folder(t, map[string]string{"new/orders/service.yaml": manifest, "old/service.yaml": ofOrders("1")})
	plan := func(contenders string) (Plan, error) {
		return planOf(t, "contenders: "+contenders+"\nlimits: {cpus: 2}\n", dir, "p.yaml", RunOptions{Services: []string{filepath.Join(dir, "new")}})
	}
	p, err := plan("[orders, {'orders:fast': {cpus: 0.5, env: {A: '3'}, as: half}}, {orders: {image: 'orders:v1', as: v1}}, " +
		"{orders: {dir: old, as: before}}]")
	testenv.OK(t, err)
	of := func(variant string) bench.Service {
		return p.Services[bench.Selection{Contender: "orders", Variant: variant}]
	}
	if s := of(""); s.Variant != "std" || s.Limits != (bench.Limits{}) || s.Env["A"] != "1" || s.Version != "2" {
		t.Errorf("without settings: %+v", s)
	}
	if s := of("half"); s.Variant != "half" || s.Limits.CPUs != .5 || s.Env["A"] != "3" || s.Env["B"] != "2" {
		t.Errorf("half: %+v", s)
	}
	if s := of("v1"); s.Docker.Image != "orders:v1" {
		t.Errorf("v1: %+v", s.Docker)
	}
	if s := of("before"); s.Version != "1" {
		t.Errorf("before: version %s", s.Version)
	}
	for contenders, want := range map[string]string{
		"[{orders: {as: fast}}]":         "is a variant of its manifest",
		"[{orders: {dir: none, as: x}}]": "none",
		"[{others: {dir: old, as: x}}]":  `unknown contender "others"`,
		"[{'orders:slow': {as: x}}]":     `no variant "slow"`,
		"[{go-nethttp: {image: 'a:b'}}]": "runs inside locbench",
	} {
		testenv.Fails(t, testenv.Err(plan(contenders)), want)
	}
}

// A folder that the profile names with dir may be next to the contender, where `git worktree add
// ../orders-before` makes it: it is not a second contender of that name.
func TestDirOfAProfileInTheServicesFolder(t *testing.T) {
	services := testenv.Folder(t, map[string]string{"orders/service.yaml": ofOrders("2"), "orders-before/service.yaml": ofOrders("1")})
	plan := func(contenders string, chosen ...string) (Plan, error) {
		return planOf(t, "contenders: "+strings.ReplaceAll(contenders, "DIR", services)+"\n", t.TempDir(), "p.yaml",
			RunOptions{Services: []string{services}, Contenders: chosen})
	}
	p, err := plan("[orders, {orders: {dir: DIR/orders-before, as: before}}]")
	testenv.OK(t, err)
	for variant, version := range map[string]string{"": "2", "before": "1"} {
		testenv.Equal(t, p.Services[bench.Selection{Contender: "orders", Variant: variant}].Version, version, variant)
	}
	for _, chosen := range [][]string{nil, {"orders"}, {"orders:same", "orders:before"}} {
		testenv.OK(t, testenv.Err(plan("[orders, {orders: {dir: DIR/orders, as: same}}, {orders: {dir: DIR/orders-before, as: before}}]", chosen...)))
	}
	testenv.Fails(t, testenv.Err(plan("[orders]")), "in both")
	testenv.Fails(t, testenv.Err(plan("[{orders: {dir: DIR/orders-before, as: before}}, {orders: {dir: DIR/none, as: x}}]")),
		"orders:x: dir "+services+"/none was not found")
}

// Each trial starts under its own limits, on the CPUs that the widest contender can fill.
func TestSpecHasOwnLimits(t *testing.T) {
	half := bench.Selection{Contender: "web", Variant: "half"}
	p := bench.Profile{
		Contenders: []bench.Selection{{Contender: "web"}, half}, Limits: bench.Limits{CPUs: 2, Memory: 1 << 30},
		Settings: []bench.Settings{{Selection: half, Limits: bench.Limits{CPUs: .5, CPUSet: 1}}},
	}
	w := widest(p)
	testenv.Check(t, w.CPUs == 2, "CPUs for all: %+v", w)
	s := launcherOf(bench.Run{Profile: p}, fakePlatform{})
	s.isolation.sets.Contender = []int{2, 3}
	spec, err := s.Spec(bench.Trial{Contender: "trial"}, bench.Service{Name: "web", Variant: "half", Limits: p.Settings[0].Limits}, bench.Artifact{})
	if want := (bench.Limits{CPUs: .5, CPUSet: 1, Memory: 1 << 30}); err != nil || spec.Limits != want || len(spec.CPUs) != 1 {
		t.Errorf("%v: limits %+v on CPUs %v", err, spec.Limits, spec.CPUs)
	}
	p.Limits.CPUs = 0
	testenv.Equal(t, widest(p), (bench.Limits{}), "one without a limit can fill all CPUs")
}

// A resumed run says which folders and images it takes from its record.
func TestOnRecord(t *testing.T) {
	run := bench.Run{Services: []string{"/s"}, Profile: bench.Profile{Settings: []bench.Settings{
		{Selection: bench.Selection{Contender: "a", Variant: "old"}, Dir: "/d\x1b[1m"},
		{Selection: bench.Selection{Contender: "a", Variant: "v1"}, Image: "a:1"},
		{Selection: bench.Selection{Contender: "a", Variant: "half"}, Limits: bench.Limits{CPUs: .5}},
	}}}
	got := strings.Join(onRecord(run, true), "\n")
	if n := strings.Count(got, "\n"); n != 2 || !strings.Contains(got, "/s (on record)") || strings.Contains(got, "\x1b") ||
		!strings.Contains(got, "for a:old (on record)") || !strings.Contains(got, "a:1 for a:v1 (on record)") {
		t.Errorf("%q", got)
	}
	if got := onRecord(run, false); len(got) != 2 {
		t.Errorf("with --services: %q", got)
	}
}

// A limit above what the machine has does not limit: the run says it once for all who have it.
func TestLimitsAboveTheMachineAreAWarning(t *testing.T) {
	big := bench.Selection{Contender: "b", Variant: "big"}
	run := func(all, own bench.Limits) bench.Run {
		return bench.Run{Machine: bench.Machine{CPUs: 2, MemoryBytes: 8 << 30}, Profile: bench.Profile{
			Runtime: bench.RuntimeProcess, Limits: all,
			Contenders: []bench.Selection{{Contender: "a"}, {Contender: "b"}, big},
			Settings:   []bench.Settings{{Selection: big, Limits: own}},
		}}
	}
	for _, c := range []struct {
		name     string
		all, own bench.Limits
		want     string
	}{
		{"below", bench.Limits{CPUs: 1}, bench.Limits{CPUs: 2, Memory: 8 << 30}, ""},
		{"no limits", bench.Limits{}, bench.Limits{}, ""},
		{"CPUs", bench.Limits{CPUs: 1}, bench.Limits{CPUs: 2.5}, "b:big may use 2.5 CPUs, but this machine has 2: that limit has no effect"},
		{"memory", bench.Limits{}, bench.Limits{Memory: 9 << 30}, "b:big may use 9 GiB, but this machine has 8 GiB: that limit has no effect"},
		{"of all", bench.Limits{CPUs: 3}, bench.Limits{CPUs: 1}, "a, b may use 3 CPUs, but this machine has 2: that limit has no effect"},
	} {
		var texts []string
		for _, w := range limitsAbove(run(c.all, c.own)) {
			texts = append(texts, w.Text)
		}
		testenv.Equal(t, strings.Join(texts, "\n"), c.want, c.name)
	}
	t.Setenv("DOCKER_HOST", "tcp://192.0.2.7:2376")
	elsewhere := run(bench.Limits{CPUs: 64}, bench.Limits{})
	elsewhere.Profile.Runtime = bench.RuntimeDocker
	got := limitsAbove(elsewhere)
	testenv.Check(t, len(got) <= 0, "an engine elsewhere: %+v", got)
}
