package report

import (
	"locbench/internal/bench"
	"locbench/internal/measure"
	"locbench/internal/stats"
	"locbench/internal/units"
)

// definitions say what each measure is, in which unit, and who counted it.
func definitions(p bench.Profile) []fact {
	var facts []fact
	add := func(more ...fact) { facts = append(facts, more...) }
	for _, m := range measure.All() {
		if d := m.Definition; d.Term != "" {
			add(fact{d.Term, d.Text})
		}
		switch m.ID {
		case measure.PeakTime:
			add(fact{"Still warming, not steady", "a measured step whose windows go one way: a straight line through the throughput, or through the CPU time per request, of its seconds changes by more than 3 % over the step, and by more than noise makes it in 1 % of steps (5 % with fewer than six windows; Student's t). Such a step takes part in no claim. Possibly: the same in the first step behind a warm-up, where noise may have made the trend; it takes part."})
		case measure.Throttled:
			add(fact{"Cumulative", "successes since the beginning of the load over CPU seconds since the start of the contender, start-up and checks included."})
		}
	}
	add(
		fact{"Cost ($ per 10⁹ requests)", "CPU seconds / successes × 10⁹ / 3600 × price of a vCPU-hour" + priceWords(p.PriceVCPUHr) + ". Everything but the CPU time is left out: it compares, it is no bill."},
		fact{"Peak", "the measured step (no warm-up) with the highest throughput. It is one of the steps that were run: the true maximum may lie between two of them."},
		fact{"Median, interval", "of the values of the rounds, one of each. The interval has 95 % confidence at least and asks nothing of the distribution: it lies between two of the values in order of size, the lowest and the highest of six. With fewer than six rounds there is none."},
		fact{"Ahead, tier", "Mann-Whitney's exact test on the rounds of each pair of contenders, p values adjusted by Holm over all pairs of the measure, 5 % for any false difference; and the 95 % interval of the ratio (Hodges and Lehmann) leaves 1 out. Each measure is a family of its own. A contender that was bound by the client, had 1 % of errors or more at its peak, was still warming up there, or had a failed round, is not compared."},
		fact{"The same", "the whole interval of the ratio lies within ±3 %."},
		fact{"Bound by", "what the counters at the two ends of a step, and the other steps of the same leg, show to have been used up."},
		fact{missing, "not measured, or not measurable there. It is never the same as 0."},
	)
	if p.Turns > 0 {
		facts = append(facts, fact{"In turns", "the contenders of a round were alive at the same time, and in each step the load went from one to the next after " + units.Duration(p.Turns) + ", so that what the machine did met all alike. All figures of a step are of the contender's own turns, put together as if nothing had been in between. Where all took turns to the end, round is set against round: Wilcoxon's signed-rank test, and Hodges and Lehmann's interval of the ratio of pairs, in place of Mann-Whitney's."})
	}
	return facts
}

func priceWords(price float64) string {
	if price <= 0 {
		price = stats.DefaultPrice
	}
	return " ($" + plain(price) + ")"
}
