package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/figures/hdr"
	"github.com/locbench/locbench/internal/testenv"
)

// facts are the numbers of a result, and of its server if it is given. Times are in ms.
type facts map[string]float64

// witness is a server that adds what it has seen.
type witness interface{ see(f facts, l bench.Load) }

func factsOf(l bench.Load, w witness) facts {
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	f := facts{
		"scheduled": float64(l.Scheduled), "sent": float64(l.Sent), "ok": float64(l.Succeeded), "lead": float64(l.Lead),
		"drain": float64(l.Drain), "all": float64(l.AllSucceeded()), "cut": float64(l.Cut), "backlog": float64(l.Backlog),
		"failed": float64(l.FailedTotal()), "rejected": float64(l.Rejected.Total()), "dropped": float64(l.Dropped), "late": float64(l.Late),
		"waited": float64(l.WaitedForConnection), "open": float64(l.MaxOpenConnections), "unserved": float64(l.Unserved),
		"reconnects": float64(l.Reconnects), "again": float64(l.SentAgain), "paced": float64(l.Paced), "overran": float64(l.Overran),
		"checked": float64(l.Checked), "unread": float64(l.UnreadTotal()), "bytes": float64(l.Bytes), "windows": float64(len(l.Windows)),
		"planned": float64(scheduled(l)), "rate": l.Throughput(), "inflight": l.InFlight, "flying": l.Throughput() * l.Latency.Mean.Seconds(),
		"elapsed": ms(l.Elapsed), "wall": ms(l.Wall), "leadin": ms(l.LeadIn), "first": ms(l.FirstResponse),
		"drainmax": ms(l.DrainMax), "min": ms(l.Latency.Min), "mean": ms(l.Latency.Mean), "max": ms(l.Latency.Max), "lagmax": ms(l.Lag.Max),
		"timeoutmin": ms(l.Timeouts.Min), "timeoutmax": ms(l.Timeouts.Max), "cpu": ms(l.ClientCPU), "kept": float64(len(l.Kept)),
		"statuses": float64(l.Statuses.Total()),
	}
	for i, of := range l.Sessions {
		name := "s" + strconv.Itoa(i) + "."
		f[name+"begun"], f[name+"completed"], f[name+"rejected"] = float64(of.Begun), float64(of.Completed), float64(of.Rejected)
		for step, n := range of.Failed {
			f["fail."+name+step] = float64(n)
		}
	}
	for kind, n := range l.Failed {
		f["fail."+string(kind)] = float64(n)
	}
	for kind, n := range l.Unread {
		f["unread."+string(kind)] = float64(n)
	}
	for status, n := range l.Statuses {
		f["status."+strconv.Itoa(status)] = float64(n)
	}
	for status, n := range l.Rejected {
		f["rejected."+strconv.Itoa(status)] = float64(n)
	}
	for _, w := range l.Warnings {
		f["warn."+string(w.Kind)]++
	}
	if w != nil {
		w.see(f, l)
	}
	return f
}

var term = regexp.MustCompile(`^([\w.+]+)(=|~|<=|>=|<|>)([\w.+]+)$`)

// value returns a number, or the sum of facts. Kinds that have not occurred are 0.
func (f facts) value(t testing.TB, text string) (sum float64) {
	for name := range strings.SplitSeq(text, "+") {
		if x, err := strconv.ParseFloat(name, 64); err == nil {
			sum += x
			continue
		}
		kind, _, several := strings.Cut(name, ".")
		if _, known := f[name]; !known && !(several && slices.Contains([]string{"fail", "warn", "status", "rejected", "unread", "got", "site"}, kind)) {
			t.Fatalf("there is no fact %q in %v", name, slices.Sorted(maps.Keys(f)))
		}
		sum += f[name]
	}
	return sum
}

// wrong returns which of the terms, such as "sent=100 ok>=all+3 max~5", do not hold; ~ is within 1%.
func (f facts) wrong(t testing.TB, terms string) (wrong []string) {
	for text := range strings.FieldsSeq(terms) {
		part := term.FindStringSubmatch(text)
		testenv.Need(t, part != nil, "not a term: %q", text)
		a, b := f.value(t, part[1]), f.value(t, part[3])
		if !map[string]bool{"=": a == b, "~": a >= .99*b && a <= 1.01*b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[part[2]] {
			wrong = append(wrong, fmt.Sprintf("%s is %g", text, a))
		}
	}
	return wrong
}

// holds checks terms about a result. A server may notice a connection later than its client.
func holds(t testing.TB, l bench.Load, s witness, terms string) {
	t.Helper()
	wrong := factsOf(l, s).wrong(t, terms)
	for deadline := time.Now().Add(5 * time.Second); len(wrong) > 0 && s != nil && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
		wrong = factsOf(l, s).wrong(t, terms)
	}
	if len(wrong) > 0 {
		all := map[string]float64(factsOf(l, s))
		maps.DeleteFunc(all, func(_ string, n float64) bool { return n == 0 })
		t.Errorf("%s\n%v\nexamples %q, %s", strings.Join(wrong, ", "), all, l.Examples, l.Warnings)
	}
}

// run runs p and checks what holds for every result.
func run(t testing.TB, e Engine, p Plan) bench.Load {
	t.Helper()
	return runUntil(t.Context(), t, e, p)
}

// runUntil is run until ctx ends.
func runUntil(ctx context.Context, t testing.TB, e Engine, p Plan) bench.Load {
	t.Helper()
	var got []bench.Window
	e.patience, e.litter = time.Minute, true // longer than any machine stall
	l, err := e.Run(ctx, p, func(w bench.Window) { got = append(got, w) })
	if cause := context.Cause(ctx); cause != nil {
		testenv.Check(t, errors.Is(err, cause) && strings.HasPrefix(err.Error(), fmt.Sprintf("load step %q: ", p.Step.Name)), "error %v", err)
	} else {
		testenv.OK(t, err)
		holds(t, l, nil, "sent=all+failed+rejected")
		if p.Step.Open() {
			holds(t, l, nil, "scheduled=sent+dropped")
			testenv.Check(t, l.Lag.Count == l.Sent && l.Origin() == bench.FromScheduled && l.Sending.Count == l.Latency.Count && l.Sending.Mean <= l.Latency.Mean,
				"lag of %d, from %s: mean %s of %d; from their sending %s of %d", l.Lag.Count, l.Origin(), l.Latency.Mean, l.Latency.Count, l.Sending.Mean, l.Sending.Count)
		}
	}
	end, sum := time.Duration(0), facts{}
	for i, w := range l.Windows {
		testenv.Check(t, w.Start == end, "window %d starts at %s, the one before ended at %s", i, w.Start, end)
		end = w.Start + w.Length
		of := bench.Load{Outcomes: bench.Outcomes{Failed: w.Failed}}
		for name, n := range map[string]int64{
			"ok": w.Succeeded, "bytes": w.Bytes, "rejected": w.Rejected, "failed": of.FailedTotal(), "sent": w.Sent,
			"scheduled": w.Scheduled, "late": w.Late, "dropped": w.Dropped,
		} {
			sum[name] += float64(n)
		}
	}
	whole := factsOf(l, nil)
	for name, n := range sum {
		exact := name == "ok" || name == "bytes"
		testenv.Check(t, n == whole[name] || n < whole[name] && !exact, "windows have %g %s, the step %g", n, name, whole[name])
	}
	testenv.Check(t, end == l.Elapsed, "the windows end at %s, the interval at %s", end, l.Elapsed)
	testenv.Check(t, fmt.Sprint(got) == fmt.Sprint(l.Windows), "reported windows %v, kept %v", got, l.Windows)
	if of := l.Statuses.Total(); of > l.Ended() || of < l.AllSucceeded()+l.Rejected.Total() || l.Late > l.Sent {
		t.Errorf("statuses %s of %d ended, %d rejected; %d late of %d", l.Statuses, l.Ended(), l.Rejected.Total(), l.Late, l.Sent)
	}
	testenv.Check(t, l.Latency.Count == l.Succeeded && l.Timeouts.Count == l.Failed[bench.ErrTimeout] && l.Timeouts.Count+l.Failures.Count == l.FailedTotal(),
		"%d latencies of %d successes, %d of timeouts and %d of others in %v", l.Latency.Count, l.Succeeded, l.Timeouts.Count, l.Failures.Count, l.Failed)
	for _, latencies := range []bench.Latencies{l.Latency, l.Timeouts, l.Failures} {
		_, err := hdr.Decode(latencies)
		testenv.Check(t, err == nil, "%v", err)
	}
	for kind := range l.Failed {
		testenv.Check(t, l.Examples[kind] != "", "no example of %q", kind)
	}
	return l
}

// scheduled returns how many requests were scheduled within the interval.
func scheduled(l bench.Load) (n int64) {
	for _, w := range l.Windows {
		n += w.Scheduled
	}
	return n
}

// above returns how many of l took longer than d.
func above(t testing.TB, l bench.Latencies, d time.Duration) (n int64) {
	t.Helper()
	for _, bar := range testenv.Must(hdr.Decode(l))(t).Bars() {
		if bar.From > d {
			n += bar.Count
		}
	}
	return n
}

// bounds collects the values outside their bounds.
type bounds []error

func (b *bounds) check(ok bool, format string, args ...any) {
	if !ok {
		*b = append(*b, fmt.Errorf(format, args...))
	}
}

// holds collects the terms that are wrong.
func (b *bounds) holds(t testing.TB, l bench.Load, s witness, terms string) {
	for _, wrong := range factsOf(l, s).wrong(t, terms) {
		b.check(false, "%s", wrong)
	}
}

func (b *bounds) err() error { return errors.Join(*b...) }
