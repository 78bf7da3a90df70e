package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
)

// flow reads a profile next to a file with users and a picture.
func flow(t *testing.T, text string) (bench.Profile, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"users.csv": "name,password\nada,x\n", "lamp.png": "{name}"} {
		testenv.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return profile.Parse(filepath.Join(dir, "p.yaml"), []byte("contenders: [a]\n"+text))
}

// reread is flow of a valid profile, which is written and read back unchanged.
func reread(t *testing.T, text string) bench.Profile {
	t.Helper()
	p, err := flow(t, text)
	testenv.OK(t, err)
	roundTrip(t, p)
	return p
}

// A session or a single request has a pace, which a rate does not leave in force; slices have whole
// iterations, and do.
func TestPace(t *testing.T) {
	const session = "sessions: [{name: s, pace: 1500ms, requests: [{get: /b%s}]}]\n"
	plain := strings.Replace(session, "%s", "", 1)
	p := reread(t, "requests: [{get: /a, pace: 1s}]\n"+plain+"steps: [1]")
	testenv.Check(t, p.Requests[0].Pace == 1e9 && p.Sessions[0].Pace == 15e8 && p.Requests[1].Pace == 0,
		"%+v, %+v", p.Requests, p.Sessions)
	if settled, why := profile.Settle(twice(p), 0); settled.Interleave != profile.Slice {
		t.Errorf("not interleaved: %+v", why)
	}
}

// A slice of an open loop is too short for repetitions: users would give up at the end of each one.
// That of a closed loop has whole iterations, and the setup of a session is before all slices.
func TestRepeatAtARateIsNotInterleaved(t *testing.T) {
	const wait = "[{name: wait, get: /b, expect: {status: [200, 202]}, repeat: {until: {status: 200}, every: 100ms}}]"
	const load = "sessions: [{name: s, requests: " + wait + "}]\nsteps: [1, {rate: 5}]\n"
	settled, why := profile.Settle(twice(reread(t, load)), 0)
	if settled.Interleave != 0 || why.Reason != bench.PlainSteps || !strings.Contains(why.Text, `"wait" is repeated`) {
		t.Errorf("interleaved by %s, %+v", settled.Interleave, why)
	}
	setup := "sessions: [{name: s, setup: " + wait + ", requests: [{get: /c}]}]\nsteps: [{rate: 5}]\n"
	if settled, why = profile.Settle(twice(reread(t, strings.Replace(load, ", {rate: 5}", "", 1))), 0); settled.Interleave == 0 {
		t.Errorf("not interleaved: %+v", why)
	}
	if settled, why = profile.Settle(twice(reread(t, setup)), 0); settled.Interleave == 0 {
		t.Errorf("not interleaved: %+v", why)
	}
}

// twice returns p with another contender, interleaved if that is possible.
func twice(p bench.Profile) bench.Profile {
	p.Contenders, p.Interleave = append(p.Contenders, bench.Selection{Contender: "b"}), bench.InterleaveAuto
	return p
}
