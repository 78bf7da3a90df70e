package results

import (
	"strings"

	"locbench/internal/bench"
)

// sentences are words of findings in results of before findings had kinds.
var sentences = []struct {
	words string
	kind  bench.FindingKind
}{
	{"client-bound: ", bench.FoundClientBound},
	{"the client may be the bottleneck: ", bench.FoundClientSuspected},
	{"interrupted: ", bench.FoundInterrupted},
	{"connections were opened again ", bench.FoundReopened},
	{" requests were in flight: the client did not see answers when they came", bench.FoundAnswersUnseen},
	{" local ports were free: ", bench.FoundPortsAwaited},
	{"counters not read at both ends of the step: ", bench.FoundCountersUnread},
	{" of the readings in between failed", bench.FoundReadingsFailed},
}

// addKinds gives findings of old results the kinds that their sentences are known by.
func addKinds(trial *bench.TrialResult) {
	for i := range trial.Steps {
		for _, all := range []bench.Findings{trial.Steps[i].Warnings, trial.Steps[i].Load.Warnings} {
			for j := range all {
				for _, s := range sentences {
					if all[j].Kind == bench.FoundOther && strings.Contains(all[j].Text, s.words) {
						all[j].Kind = s.kind
					}
				}
			}
		}
	}
}
