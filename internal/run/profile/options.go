package profile

import (
	"slices"
	"strconv"
	"sync"

	"github.com/locbench/locbench/internal/bench"
)

// Options returns all options of a run in the order in which Change applies them: connections
// before what affects every step, and needs before targets, which do without.
func Options() []Option { return options() }

var options = sync.OnceValue(func() []Option {
	return slices.Concat(loadOptions(), needOptions(), placeOptions())
})

func loadOptions() []Option {
	return []Option{
		{
			Name: "contenders", Key: "contenders", Type: Several, Label: "Contenders",
			Help: "The implementations to compare, and their variants. Each starts once per round, in shuffled order.",
			get:  contendersText, set: addContender,
		},
		{
			Name: "rounds", Key: "rounds", Type: "int", Group: OfRuns,
			Usage: "rounds per contender; 6 or more give a 95% CI, and interleaved ones take 8 for a verdict (default: " +
				"the profile's, else 8 interleaved, 6 not, 1 for one contender)",
			Label: "Rounds",
			Help: "Repetitions of each contender. 6 or more give a 95% confidence interval and a ranking; interleaved " +
				"ones take 8. Empty: as many as that takes.",
		},
		{
			Name: "targets", Key: "requests.targets", Type: "string", Group: OfRuns,
			Usage: "requests of vegeta's target `FILE` (HTTP or JSON format), in place of the profile's; " +
				"their hosts are not used",
			set: func(c *change, text string) error { // LoadWith has applied it
				if text == "" {
					return c.refuse(text, "write the path of a file")
				}
				return nil
			},
		},
		{
			Name: "cpus", Key: "limits.cpus", Type: "float64",
			Usage: "CPU quota per contender, such as 1.5",
			Label: "CPUs",
			Help:  "CPU quota per contender: 1.5 is 150 ms of CPU time every 100 ms. Above it the kernel throttles.",
		},
		{
			Name: "cpu-set", Key: "limits.cpu_set", Type: "int",
			Usage: "number of CPUs a contender may run on (at most all)",
			Label: "CPUs visible",
			Help:  "Number of CPUs a contender may run on. Many runtimes size their thread pools by it.",
		},
		{
			Name: "memory", Key: "limits.memory", Type: "string",
			Usage: "memory limit per contender, such as 512MiB",
			Label: "Memory",
			Help:  "Memory limit per contender, without swap. Units are powers of 1,024, as in compose files: 512M, 512MB and 512MiB are the same.",
		},
		{
			Name: "connections", Key: "steps", Type: "stringSlice", Group: OfRuns,
			Usage: "steps, as `numbers` of connections: '1,8,64' or '1 x5 warm-up,2..64 doubling'",
			Label: "Steps",
			Help:  "Steps as numbers of connections, such as 1,8,64. Also: 1 x5 warm-up, 2..2048 doubling, 64 for 30s.",
			get:   func(p *bench.Profile) string { return ShortSteps(p.Steps) }, set: setConnections,
		},
		{
			Name: "duration", Key: "step_duration", Type: "duration", Group: OfRuns,
			Usage: "length of each step",
			Label: "Duration",
			Help: "Length of each step, such as 10s. Short steps are for a first try; JITs and caches take longer " +
				"to warm up.",
			get: durations, set: setDuration,
		},
		{
			Name: "interleave", Key: "interleave", Type: "string", Group: OfRuns,
			Usage: "interleave the contenders of a round, so machine noise affects all alike: auto (slices from 500ms where " +
				"rounds, steps and memory allow it), off, or an `INTERVAL` such as 1s",
			Label: "Interleave",
			Help: "Interleaves the contenders of a round; machine noise then affects all alike. auto: in slices from 500ms on where " +
				"rounds, steps and memory allow it. off: one after the other. Or an interval such as 1s.",
			get: func(p *bench.Profile) string { return writeInterleave(p.Interleave) }, set: setInterleave,
		},
		{
			Name: "threshold", Key: "thresholds", Type: Several, Group: OfRuns,
			Usage: "`CONDITION` each step must meet, else exit code 4: 'p99<50ms,errors<0.1%' or " +
				"'errors<20% stop=trial'; added to the profile's; repeatable",
			set: addThreshold,
		},
		{
			Name: "runtime", Key: "runtime", Type: "string", Values: bench.Runtimes(),
			Usage: "docker, process, or auto (docker if available)",
			Label: "Runtime",
			Help: "Where contenders run: in Docker containers, or as processes on this machine. " +
				"auto uses Docker if available.",
		},
	}
}

func placeOptions() []Option {
	return []Option{
		{
			Name: "target", Type: Several,
			Usage: "load the running service at `[NAME=]URL`; name several to compare them. Without a profile or " +
				"contender, requests go to exactly this path and query",
			set: func(c *change, _ string) error {
				*c.p = Without(*c.p)
				return nil
			},
		},
		{
			Name: "seed", Type: "uint64", Usage: "seed of the trial order and drawn ids (default random; recorded)",
			set: func(c *change, text string) error { // the run keeps it
				if _, err := strconv.ParseUint(text, 0, 64); err != nil {
					return c.refuse(text, "write a whole number from 0, such as 6")
				}
				return nil
			},
		},
		{
			Name: "http2", Key: "protocol", Type: "bool",
			Usage: "use HTTP/2: over TLS for an https target, else with prior knowledge (h2c); one request at a time " +
				"per connection",
			set: onOff(func(p *bench.Profile, on bool) {
				p.Protocol = bench.HTTP11
				if on {
					p.Protocol = bench.HTTP2
				}
			}),
		},
		{
			Name: "engine", Type: "string", Group: OfRuns, Values: bench.Engines(),
			Usage: "load `ENGINE`: fast (HTTP/1.1 without TLS, on Linux), vegeta (also HTTP/2 and TLS, on every system), or " +
				"auto: fast where it applies, else vegeta (default auto, or $LOCBENCH_ENGINE; recorded)",
			set: func(*change, string) error { return nil }, // the run keeps it
		},
		{
			Name: "no-checks", Key: "checks", Type: "bool", Usage: "skip lifecycle and HTTP checks",
			set: onOff(func(p *bench.Profile, on bool) {
				if on {
					p.Checks = bench.CheckSpec{}
				}
			}),
		},
	}
}
