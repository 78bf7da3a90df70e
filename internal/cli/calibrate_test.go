package cli

import (
	"testing"

	"github.com/locbench/locbench/internal/app"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
)

// The floor is that of a run with the same options, interleaved by
// default.
func TestCalibrate(t *testing.T) {
	ramp := fileOf(t, "ramp.yaml", "contenders: [a]\nrequests: [{get: /x}]\nsteps: [{connections: {from: 1, to: 9}}]\n")
	large := fileOf(t, "large.yaml", "contenders: [a]\nlimits: {memory: 4GiB}\nrequests: [{get: /x}]\nsteps: [3]\n")
	off := fileOf(t, "off.yaml", "contenders: [a]\ninterleave: off\nrequests: [{get: /x}]\nsteps: [3]\n")
	for _, c := range []struct {
		name, profile, rounds, interleave string
		wantRounds, wantInterleave        string
	}{
		{"default", "quick", "", "", "16", "100ms"},
		{"off", "quick", "", "off", "12", "off"},
		{"by the profile", off, "", "", "12", ""},
		{"another slice", "quick", "", "250ms", "16", "250ms"},
		{"too few rounds for pairs", "quick", "15", "", "15", ""},
		{"enough", "quick", "20", "", "20", "100ms"},
		{"ramp", ramp, "", "", "12", ""},
		{"memory", large, "", "", "12", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := app.RunOptions{Profile: c.profile, Changes: profile.Changes{}}
			for flag, value := range map[string]string{"rounds": c.rounds, "interleave": c.interleave} {
				if value != "" {
					o.Changes = o.Changes.With(flag, value)
				}
			}
			got := calibration(o, func(bench.Runtime) int64 { return 8 << 30 })
			if got.Text("rounds") != c.wantRounds || got.Text("interleave") != c.wantInterleave {
				t.Errorf("%s rounds, interleave %q; want %s, %q", got.Text("rounds"), got.Text("interleave"), c.wantRounds, c.wantInterleave)
			}
		})
	}
}

// The memory of this machine does not decide what is
// interleaved in another one, and does where contenders are processes.
func TestCalibrate_EngineElsewhere(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://192.0.2.7:2376")
	huge := "limits: {memory: 900GiB}\nrequests: [{get: /x}]\nsteps: [3]\n"
	for runtime, want := range map[string]string{"docker": "16", "process": "12"} {
		file := fileOf(t, "huge.yaml", "contenders: [a]\nruntime: "+runtime+"\n"+huge)
		got := calibration(app.RunOptions{Profile: file, Changes: profile.Changes{}}, app.Available)
		if app.Available(bench.RuntimeProcess) > 0 && got.Text("rounds") != want {
			t.Errorf("%s: %s rounds, want %s", runtime, got.Text("rounds"), want)
		}
	}
}

func TestProfiles_Rounds(t *testing.T) {
	for text, want := range map[string]string{
		"requests: [{get: /x}]\nsteps: [3]\n":                                      "1 (8, interleaved, with two contenders or more)",
		"interleave: off\nrequests: [{get: /x}]\nsteps: [3]\n":                     "1 (6, with two contenders or more)",
		"rounds: 5\nrequests: [{get: /x}]\nsteps: [3]\n":                           "5",
		"contenders: [a]\nrequests: [{get: /x}]\nsteps: [3]\n":                     "1",
		"contenders: [a, b]\nrequests: [{get: /x}]\nsteps: [3]\n":                  "8",
		"contenders: [a, b]\ninterleave: off\nrequests: [{get: /x}]\nsteps: [3]\n": "6",
	} {
		p, err := profile.Parse("p.yaml", []byte(text))
		if got := settledRounds(p); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
