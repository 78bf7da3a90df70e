package profile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

const settingsRest = "\nlimits: {cpus: 1, memory: 64MiB}\nrequests: [{path: /}]\nsteps: [1]\n"

// Settings of a contender are read, override the limits of all, and survive writing.
func TestContenderSettings(t *testing.T) {
	in := "contenders: [a, {a: {cpus: 0.5, env: {GOGC: 50}, as: half}}, {'a:fast': {memory: 32MiB, pids: 9, cpu_set: 2}}, " +
		"{b: {dir: ../old}}, {b: {image: 'b:v1', as: v1}}, {a: {as: again}}]" + settingsRest
	p, err := profile.Parse("dir/f.yaml", []byte(in))
	testenv.OK(t, err)
	var labels []string
	for _, c := range p.Contenders {
		labels = append(labels, c.String())
	}
	testenv.Equal(t, strings.Join(labels, " "), "a a:half a:fast b b:v1 a:again", "contenders")
	half, fast := p.SettingsOf(p.Contenders[1]), p.SettingsOf(p.Contenders[2])
	testenv.Check(t, half.InManifest() == (bench.Selection{Contender: "a"}) && half.Env["GOGC"] == "50",
		"half: %+v", half)
	testenv.Equal(t, fast.InManifest(), p.Contenders[2], fast)
	for i, want := range []bench.Limits{
		{CPUs: 1, Memory: 64 << 20}, {CPUs: .5, Memory: 64 << 20}, {CPUs: 1, CPUSet: 2, Memory: 32 << 20, PIDs: 9},
	} {
		testenv.Equal(t, p.LimitsOf(p.Contenders[i]), want, p.Contenders[i])
	}
	if dir := p.SettingsOf(p.Contenders[3]).Dir; !filepath.IsAbs(dir) || filepath.Base(dir) != "old" {
		t.Errorf("folder %q is not relative to the file", dir)
	}
	testenv.Equal(t, p.SettingsOf(p.Contenders[4]).Image, "b:v1", p.Settings)
	changed, err := profile.Change(p, profile.Changes{"cpus": {"2"}, "contenders": {"a", "a:half"}}, nil)
	if err != nil || changed.LimitsOf(p.Contenders[0]).CPUs != 2 || changed.LimitsOf(p.Contenders[1]).CPUs != .5 {
		t.Errorf("the limit of a contender is more specific than --cpus: %v, %+v", err, changed)
	}
}
