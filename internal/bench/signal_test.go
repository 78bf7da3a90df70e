package bench

import (
	"testing"

	"github.com/locbench/locbench/internal/testenv"
)

func TestSignal(t *testing.T) {
	for name, want := range map[string]int{
		"SIGTERM": 15, "SIGINT": 2, "int": 2, "SIGUSR1": 10, "SIGWINCH": 28, "SIGSYS": 31, "9": 9, "64": 64, "SIGRTMIN": 34, "RTMIN+3": 37,
		"SIGRTMAX-1": 63, "SIGRTMAX": 64, "": 0, "SIG": 0, "0": 0, "65": 0, "-1": 0, "SIGFOO": 0, "SIGRTMIN+31": 0, "SIGRTMIN+x": 0, "SIGRTMAX-31": 0,
	} {
		got := SignalNumber(name)
		testenv.Check(t, got == want, "%q: %d, want %d", name, got, want)
		if again := SignalNumber(SignalName(want)); want > 0 && again != want {
			t.Errorf("%d is called %s", want, SignalName(want))
		}
	}
}

func TestConfined(t *testing.T) {
	for want, c := range map[string]Confined{
		"": {}, "read-only": {ReadOnly: true},
		"read-only, tmpfs /tmp, tmpfs /run:size=1m, 256 MiB of /dev/shm, user 1000:1000": {true, []string{"/tmp", "/run:size=1m"}, 256 << 20, "1000:1000"},
	} {
		got := c.String()
		testenv.Check(t, got == want, "%q, want %q", got, want)
	}
}
