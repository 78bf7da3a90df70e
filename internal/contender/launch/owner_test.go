package launch

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

const (
	boot      = "0123456789abcdef0123456789abcdef"
	otherBoot = "00000000000000000000000000000001"
)

func TestParseOwner(t *testing.T) {
	for text, want := range map[string]identity{
		"1.2.0.0@host": {1, "2", "0", "0", "host"},
		"77.88.4026531836." + boot + "@a host-1.example": {77, "88", "4026531836", boot, "a host-1.example"},
		"77.1700000000000000.0.0@mac":                    {77, "1700000000000000", "0", "0", "mac"},
		"1.2.3.4@":                                       {1, "2", "3", "4", ""},
		owner():                                          self(),
	} {
		t.Run(text, func(t *testing.T) {
			got, ok := parseOwner(text)
			testenv.Check(t, ok && got == want && got.String() == text, "%q: %+v, %v", text, got, ok)
			o, ok := instanceOwner(text + "-0123456789ab")
			testenv.Check(t, ok && o == text, "%q: instance of %q, %v", text, o, ok)
		})
	}
	for _, text := range []string{
		"", "nightly.service", "x", "1", "1@h", "1.2.3.4", "1.2@h", "0.2.3.4@h", "-1.2.3.4@h", "01.2.3.4@h", "1.x.3.4@h", "1.2.3@h", "1.2.3.xyz@h", "1.2.3.0.4@h",
		"1.2.3.4@a/b", "1.2.3.4@a\nb", " 1.2.3.4@h", "99999999999.1.3.4@h", "1.2.3.ABC@h",
	} {
		i, ok := parseOwner(text)
		testenv.Check(t, !ok, "%q: taken for %+v", text, i)
	}
	for _, id := range []string{"1.2.3.4@h", "1.2.3.4@h-", "1.2.3.4@h-0123456789a", "1.2.3.4@h-0123456789abc", "1.2.3.4@h-0123456789AB", "1.2.3.4@h-0123456789ab.service", "x-0123456789ab", "-0123456789ab"} {
		if o, ok := instanceOwner(id); ok && o != "1.2.3.4@h" {
			t.Errorf("%q: taken for an instance of %q", id, o)
		} else if ok {
			t.Errorf("%q: taken for an instance", id)
		}
	}
	o, ok := instanceOwner(newInstanceID())
	testenv.Check(t, ok && o == owner(), "own instance: %q, %v", o, ok)
}

func TestPlainHost(t *testing.T) {
	got := strings.Map(plainHost, "a/b c\x1f\x7fé~")
	testenv.Check(t, got == "a_b c__é~", "%v", got)
}

func FuzzParseOwner(f *testing.F) {
	f.Add("1.2.4026531836." + boot + "@host")
	f.Add("1.2.0.0@host")
	f.Fuzz(func(t *testing.T, text string) {
		i, ok := parseOwner(text)
		testenv.Check(t, !ok || i.String() == text && i.pid > 0 && !strings.Contains(text, "/"), "%q: %+v", text, i)
	})
}

func TestLivenessOf(t *testing.T) {
	running := map[int]string{10: "100", 11: "", 12: "120"} // start by number; "": unknown
	present := func(pid int) (string, bool) {
		start, there := running[pid]
		return start, there
	}
	here := identity{1, "1", "41", boot, "host"}
	mac := identity{1, "1", "0", otherBoot, "host"}
	windows := identity{1, "1", "0", "0", "host"}
	for name, tt := range map[string]struct {
		i, here identity
		want    liveness
		why     string
	}{
		"alive":                          {identity{10, "100", "41", boot, "host"}, here, alive, "(process 10) is running"},
		"alive in a container's host":    {identity{10, "100", "41", boot, "0a1b2c"}, here, alive, "is running"},
		"hidden":                         {identity{11, "110", "41", boot, "host"}, here, alive, "is running"},
		"gone":                           {identity{9, "90", "41", boot, "host"}, here, dead, ""},
		"number used again":              {identity{10, "99", "41", boot, "host"}, here, dead, ""},
		"another PID namespace":          {identity{9, "90", "42", boot, "host"}, here, unknown, "PID namespace"},
		"the same number in another one": {identity{10, "100", "42", boot, "host"}, here, unknown, "PID namespace"},
		"another machine":                {identity{9, "90", "41", otherBoot, "far"}, here, unknown, "another machine, far"},
		"started again":                  {identity{9, "90", "41", otherBoot, "host"}, here, dead, ""},
		"started again, number used":     {identity{10, "100", "77", otherBoot, "host"}, here, dead, ""},
		"far engine, started again":      {identity{9, "90", "41", otherBoot, "host"}, here, unknown, "before the last boot"},
		"macOS, started again":           {identity{9, "90", "0", boot, "host"}, mac, dead, ""},
		"a Linux of the same name":       {identity{9, "90", "41", boot, "host"}, mac, unknown, "before the last boot"},
		"here unknown":                   {identity{9, "90", "41", boot, "host"}, identity{1, "1", "170000000", "0", "host"}, unknown, "before the last boot"},
		"macOS, alive":                   {identity{12, "120", "0", otherBoot, "host"}, mac, alive, "is running"},
		"macOS, gone":                    {identity{9, "90", "0", otherBoot, "host"}, mac, dead, ""},
		"macOS, start unknown":           {identity{12, "0", "0", otherBoot, "host"}, mac, alive, "is running"},
		"Windows, gone":                  {identity{9, "90", "0", "0", "host"}, windows, dead, ""},
		"Windows, number used again":     {identity{12, "121", "0", "0", "host"}, windows, dead, ""},
		"Windows, another machine":       {identity{9, "90", "0", "0", "far"}, windows, unknown, "another machine, far"},
		"Linux seen from Windows":        {identity{9, "90", "41", boot, "host"}, windows, unknown, "another machine"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := livenessOf(tt.i, tt.here, !strings.HasPrefix(name, "far engine"), present)
			testenv.Check(t, got == tt.want && strings.Contains(why, tt.why) && (why == "") == (got == dead),
				"%s: %v, %q", name, got, why)
		})
	}
	f, why := stateOf("nightly.service", true)
	testenv.Check(t, f == unknown && why != "", "no owner: %v, %q", f, why)
}

// deadOwner returns the owner of a dead locbench of this PID namespace.
func deadOwner() string {
	i := self()
	i.start = "1"
	return i.String()
}

// TestStateOfProcesses checks a real process that is alive, and one of the same number that is
// dead.
func TestStateOfProcesses(t *testing.T) {
	f, why := stateOf(owner(), true)
	testenv.Check(t, f == alive, "own: %v, %s", f, why)
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip("no cat here: ", err)
	}
	child := exec.Command(cat)
	in := testenv.Must(child.StdinPipe())(t)
	testenv.OK(t, child.Start())
	i := self()
	i.pid = child.Process.Pid
	i.start, _ = present(i.pid)
	f, why = stateOf(i.String(), true)
	testenv.Check(t, f == alive, "child: %v, %s", f, why)
	again := i
	again.start = "1"
	f, _ = stateOf(again.String(), true)
	testenv.Check(t, f == dead || i.start == "", "another process of the same number counts as alive")
	in.Close()
	testenv.OK(t, child.Wait())
	f, why = stateOf(i.String(), true)
	testenv.Check(t, f == dead, "after its exit: %v, %s", f, why)
}
