package report

import (
	"locbench/internal/bench"
	"locbench/internal/stats"
	"locbench/internal/units"
)

// definitions say what each measure is, in which unit, and who counted it.
func definitions(p bench.Profile) []fact {
	facts := []fact{
		{"Throughput (successes/s)", "counted by the client: successful answers whose last byte arrived within the measured interval / its length. The load begins before the interval and goes on until its end; answers before and after it are in no rate. An answer is a success when it is complete and has the expected status, and the expected body where the profile validates bodies."},
		{"Error ratio (%)", "errors / (errors + successes). Errors are counted by kind: class of an unexpected status, connect refused, connection reset, timeout, bad body, limit of the client. Counted by the client."},
		{"Latency (ms, µs)", "from the sending of a request to the arrival of the last byte of its answer, of successes only. Where the client slept until then, the kernel's stamp ends it, so that its own waking up is not part of it; else the moment at which it was read. p50, p90, p99: 50, 90, 99 % of the successes of the step were as fast or faster. Quantiles of different rounds are never averaged into one."},
		{"Latency at half of the peak (ms, µs)", "of the open-loop step at 50 % of the peak where the profile has one; else of the closed-loop step whose throughput is nearest to half of the peak, if it is between 25 and 75 % of it. All rounds together, by merging their histograms."},
		{"Start-up time (ms)", "by the clock of the machine on which locbench runs: from the moment the runtime has started the process to the first HTTP answer."},
		{"Time to peak (s)", "from the same moment to the first one-second window within 3 % of the final throughput, which is kept for the rest; with a running median over five windows, so that one slow second is no loss of it. Looked for in the last part of the warm-up and the measured steps behind it that have the same load; the final throughput is the median of the last third of its windows. Where even those scatter by more than 3 %, twice their scatter takes its place. What the run does before the load, its checks above all, is in it. None where the throughput did not stay, where contenders took turns, or where nothing was started."},
		{"Still warming, not steady", "a measured step whose windows go one way: a straight line through the throughput, or through the CPU time per request, of its seconds changes by more than 3 % over the step, and by more than noise makes it in 1 % of steps (5 % with fewer than six windows; Student's t). Such a step takes part in no claim."},
		{"Memory high-water mark (MiB = 2²⁰ bytes)", "the most memory the contender has held since its start, as the kernel counted it (memory.peak of cgroup v2, max_usage_in_bytes of v1, VmHWM of a process). “≥”: no counter could be read; the largest sample is shown, and the true mark may be higher."},
		{"Memory high-water mark per rate (MiB·s)", "high-water mark / throughput of the step."},
		{"Memory in use (MiB)", "at the end of the step, without the page cache."},
		{"CPU time (s)", "user and system time of the contender (all its processes), counted by the kernel at the two ends of exactly this step."},
		{"CPU time per request (µs)", "CPU time of the step / its successes."},
		{"While idle (CPUs)", "CPU time that the contender used in the rests of the load, in which nobody asked it anything, over their length: its compilers and collectors, right behind the load."},
		{"Throttled periods (%)", "periods in which the CPU quota was used up / periods in which the contender wanted to run."},
		{"Cumulative", "successes since the beginning of the load over CPU seconds since the start of the contender, start-up and checks included."},
		{"Cost ($ per 10⁹ requests)", "CPU seconds / successes × 10⁹ / 3600 × price of a vCPU-hour" + priceWords(p.PriceVCPUHr) + ". Everything but the CPU time is left out: it compares, it is no bill."},
		{"Peak", "the measured step (no warm-up) with the highest throughput. It is one of the steps that were run: the true maximum may lie between two of them."},
		{"Median, interval", "of the values of the rounds, one of each. The interval has 95 % confidence at least and asks nothing of the distribution: it lies between two of the values in order of size, the lowest and the highest of six. With fewer than six rounds there is none."},
		{"Ahead, tier", "Mann-Whitney's exact test on the rounds of each pair of contenders, p values adjusted by Holm over all pairs of the measure, 5 % for any false difference; and the 95 % interval of the ratio (Hodges and Lehmann) leaves 1 out. Each measure is a family of its own. A contender that was bound by the client, had 1 % of errors or more at its peak, was still warming up there, or had a failed round, is not compared."},
		{"The same", "the whole interval of the ratio lies within ±3 %."},
		{"Bound by", "what the counters at the two ends of a step, and the other steps of the same leg, show to have been used up."},
		{missing, "not measured, or not measurable there. It is never the same as 0."},
	}
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
