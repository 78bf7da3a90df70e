package stats

// Tier is a group of contenders that the rounds do not tell apart from the one in it with the best
// median.
type Tier struct {
	Members []int // indices of the samples; the leader first, then by their medians
	Beats   []int // the members of all lower tiers: the leader is better than each of them
}

// Tiers groups samples of one measure, one sample for each contender, instead of ranking them. The
// contender with the best median leads the first tier; all that the rule does not find worse than
// it belong to it. Of the others the next tier is made in the same way.
//
// The p values of all k·(k−1)/2 pairs are adjusted by Holm together, since the leader is not known
// beforehand: a false split anywhere has a chance of at most Alpha. The price is that six rounds
// can part at most seven contenders; then lacking tells how many rounds more would do, else it is 0.
// Samples of too few rounds are in no tier: unknown lists them. paired says that the i-th values of
// all samples belong together, as Pair.Paired does; they must have as many then.
func (r Rule) Tiers(samples [][]float64, higherIsBetter, paired bool) (tiers []Tier, unknown []int, lacking int) {
	r = r.Fill()
	var rest []int
	for _, i := range sortedByMedian(samples, higherIsBetter) {
		if enough(MinInterval, samples[i]) != nil || positive(samples[i]) != nil {
			unknown = append(unknown, i)
			continue
		}
		rest = append(rest, i)
	}
	lacking = r.lacking(samples, rest, paired)
	worse := r.worse(samples, rest, higherIsBetter, paired)
	for len(rest) > 0 {
		tier := Tier{Members: rest[:1:1]}
		leader := rest[0]
		for _, i := range rest[1:] {
			if worse[[2]int{leader, i}] {
				tier.Beats = append(tier.Beats, i)
			} else {
				tier.Members = append(tier.Members, i)
			}
		}
		tiers = append(tiers, tier)
		rest = tier.Beats
	}
	return tiers, unknown, lacking
}

// worse holds the pairs (a, b) of which b is worse than a; order has the better medians first.
func (r Rule) worse(samples [][]float64, order []int, higherIsBetter, paired bool) map[[2]int]bool {
	var family []Pair
	var pairs [][2]int
	for k, a := range order {
		for _, b := range order[k+1:] {
			pairs = append(pairs, [2]int{a, b})
			family = append(family, Pair{HigherIsBetter: higherIsBetter, Old: samples[a], New: samples[b], Paired: paired})
		}
	}
	found := map[[2]int]bool{}
	for i, c := range r.Compare(family) {
		found[pairs[i]] = c.Verdict == Worse
	}
	return found
}

// lacking is how many rounds more even the clearest difference would need among so many contenders.
func (r Rule) lacking(samples [][]float64, order []int, paired bool) int {
	if len(order) < 2 {
		return 0
	}
	rounds := len(samples[order[0]])
	for _, i := range order {
		rounds = min(rounds, len(samples[i]))
	}
	pairs := float64(len(order)*(len(order)-1)) / 2
	for need := rounds; need <= ExactLimit/2; need++ {
		if leastP(need, paired)*pairs <= r.Alpha {
			return need - rounds
		}
	}
	return 0
}
