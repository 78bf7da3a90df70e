package runner

import (
	"math/rand/v2"

	"locbench/internal/bench"
)

// Order plans the legs: every contender once in each round, in an order that is shuffled anew for
// each round from seed, so that a drift of the machine hits all alike and nobody always runs after
// the same neighbour.
func Order(contenders []bench.Selection, rounds int, seed uint64) []bench.LegEntry {
	var legs []bench.LegEntry
	for round := 1; round <= rounds; round++ {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		for _, i := range rng.Perm(len(contenders)) {
			leg := bench.Leg{Contender: contenders[i].Contender, Variant: contenders[i].Variant, Round: round}
			legs = append(legs, bench.LegEntry{Leg: leg, State: bench.LegPending, File: leg.String() + ".json"})
		}
	}
	return legs
}
