package results

import (
	"strings"

	"locbench/internal/bench"
)

// sentences are words of findings in results of before findings had kinds.
var sentences = []struct {
	words string
	kind  bench.WarningKind
}{
	{"client-bound: ", bench.WarnClientBound},
	{"the client may be the bottleneck: ", bench.WarnClientMaybeBound},
	{"interrupted: ", bench.WarnInterrupted},
	{"connections were opened again ", bench.WarnReopened},
	{" requests were in flight: the client did not see answers when they came", bench.WarnResponsesSeenLate},
	{" local ports were free: ", bench.WarnWaitedForPorts},
	{"counters not read at both ends of the step: ", bench.WarnCountersMissing},
	{" of the readings in between failed", bench.WarnReadingsFailed},
}

// addKinds gives findings of old results the kinds that their sentences are known by.
func addKinds(trial *bench.TrialResult) {
	for i := range trial.Steps {
		for _, all := range []bench.Warnings{trial.Steps[i].Warnings, trial.Steps[i].Load.Warnings} {
			for j := range all {
				for _, s := range sentences {
					if all[j].Kind == bench.WarnOther && strings.Contains(all[j].Text, s.words) {
						all[j].Kind = s.kind
					}
				}
			}
		}
	}
}
