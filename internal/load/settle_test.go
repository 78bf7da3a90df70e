package load

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// served is a service that is being warmed up: its true successes per second and CPU time for each,
// after so many seconds since it was started and so many seconds of rest.
type served func(seconds, rested float64) (rate, cost float64)

// warmed is how a warm-up of a minute has gone.
type warmed struct {
	at    float64 // seconds until it was settled; 0: it was not
	level float64 // true rate at that moment, as a share of the last one
	rests int
}

// warmUp feeds a settling with windows of one second and rests of one. Answers are counted, so that
// a rate has the noise of counting; noise comes on top, and separately on the cost, as a share from
// one window to the next. A cost of 0 is not known.
func warmUp(s served, noise, costNoise float64, seed uint64) (w warmed) {
	rng := rand.New(rand.NewPCG(seed, 12))
	final, _ := s(1e6, 1e6)
	var rule settling
	for now, rests := 0., 0.; now < 60; {
		rate, cost := s(now+.5, rests)
		now++
		seen := rate*(1+noise*rng.NormFloat64()) + math.Sqrt(rate)*rng.NormFloat64()
		switch rule.add(max(1, seen), cost*max(.01, 1+costNoise*rng.NormFloat64())) {
		case isSettled:
			w.at, w.level = now, rate/final
			return w
		case restNow:
			rule.rested()
			now, rests = now+1, rests+1
			w.rests++
		case goOn:
		}
	}
	return w
}

// seeds runs a hundred lives, and gives them in the order of when they were settled, those that
// were not first.
func seeds(s served, noise, costNoise float64) (all []warmed) {
	for seed := range uint64(100) {
		all = append(all, warmUp(s, noise, costNoise, seed))
	}
	slices.SortFunc(all, func(a, b warmed) int { return int(math.Copysign(1, a.at-b.at)) })
	return all
}

// quota is a service that has so many ns of CPU time a second, and is as fast as its cost lets it
// be.
func quota(speed served) served {
	const ns = 1.5e9
	return func(seconds, rested float64) (rate, cost float64) {
		rate, _ = speed(seconds, rested)
		return rate, ns / rate
	}
}

// unknown is a service whose CPU time nobody can read.
func unknown(s served) served {
	return func(seconds, rested float64) (rate, cost float64) {
		rate, _ = s(seconds, rested)
		return rate, 0
	}
}

const fullSpeed = 2000.

// Services that are not at their final speed are never called settled: in a hundred lives each,
// with the CPU time known and without.
func TestNeverSettledTooEarly(t *testing.T) {
	for name, s := range map[string]served{
		"half speed for 10 s": func(at, _ float64) (float64, float64) {
			if at < 10 {
				return fullSpeed / 2, 0
			}
			return fullSpeed, 0
		},
		"slow start, then half speed for 10 s": func(at, _ float64) (float64, float64) {
			switch {
			case at < 6:
				return fullSpeed / 4, 0
			case at < 16:
				return fullSpeed / 2, 0
			}
			return fullSpeed, 0
		},
		"rises by 1 % a second":       func(at, _ float64) (float64, float64) { return fullSpeed / 2 * (1 + .01*min(at, 100)), 0 },
		"twice as fast after a rest":  func(_, rested float64) (float64, float64) { return fullSpeed / 2 * (1 + min(rested, 1)), 0 },
		"faster with each of 5 rests": func(_, rested float64) (float64, float64) { return fullSpeed * (1 + .2*min(rested, 5)), 0 },
		"comes near in 10 s":          func(at, _ float64) (float64, float64) { return fullSpeed * (1 - .6*math.Exp(-at/10)), 0 },
	} {
		for known, s := range map[string]served{"": quota(s), ", CPU time unknown": unknown(s)} {
			t.Run(name+known, func(t *testing.T) {
				settled := 0
				for seed, w := range seeds(s, 0.01, 0.01) {
					if w.at == 0 {
						continue
					}
					settled++
					if w.level < .97 {
						t.Errorf("%d: settled after %.0f s at %.0f %% of its final speed, %d rests", seed, w.at, 100*w.level, w.rests)
					}
				}
				t.Logf("%d of 100 settled within a minute", settled)
			})
		}
	}
}

// A service that is at its final speed is called settled soon, the sooner the less it scatters.
func TestSettledSoon(t *testing.T) {
	const period = 7.
	sawtooth := func(depth float64) served {
		return func(at, _ float64) (float64, float64) {
			return fullSpeed * (1 + depth*(.5-math.Mod(at, period)/period)), 0
		}
	}
	flat := func(float64, float64) (float64, float64) { return fullSpeed, 0 }
	halfHole := func(at, _ float64) (float64, float64) {
		if at > 5 && at < 6 {
			return fullSpeed / 2, 0
		}
		return fullSpeed, 0
	}
	for _, c := range []struct {
		name             string
		s                served
		noise, costNoise float64
		within           float64 // seconds,
		of               int     // for so many of a hundred lives
	}{
		{"stationary", quota(flat), .01, .01, 19, 99},
		{"stationary, 10 % noise", unknown(flat), .10, 0, 20, 95},
		{"stationary, 10 % noise, steady CPU time", quota(flat), .10, .02, 20, 95},
		{"stationary, 10 % noise of both", quota(flat), .10, .10, 20, 95},
		{"stationary, 20 % noise", unknown(flat), .20, 0, 45, 90},
		{"a collector's sawtooth of 10 %", quota(sawtooth(.10)), .01, .01, 30, 95},
		{"a collector's sawtooth of 20 %", quota(sawtooth(.20)), .01, .01, 40, 95},
		{"one second at half speed", quota(halfHole), .01, .01, 40, 95},
		{"comes near in 3 s", quota(func(at, _ float64) (float64, float64) { return fullSpeed * (1 - .6*math.Exp(-at/3)), 0 }), .01, .01, 45, 95},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := seeds(c.s, c.noise, c.costNoise)
			soon := 0
			for _, w := range all {
				if w.at > 0 && w.at <= c.within {
					soon++
				}
			}
			t.Logf("settled within %g s in %d of 100 lives; median %.0f s", c.within, soon, all[50].at)
			if soon < c.of {
				t.Errorf("settled within %g s in %d of 100 lives, want %d", c.within, soon, c.of)
			}
		})
	}
}

// Noise widens the wait.
func TestNoiseWidensTheWait(t *testing.T) {
	flat := unknown(func(float64, float64) (float64, float64) { return fullSpeed, 0 })
	before := 0.
	for _, noise := range []float64{.02, .20, .40} {
		all := seeds(flat, noise, 0)
		if median := all[50].at; median <= before+2 {
			t.Errorf("with a noise of %.0f %% it takes %.0f s, with less %.0f s", 100*noise, median, before)
		} else {
			before = median
		}
	}
}

// What was seen before a window without any success says nothing about what comes after it.
func TestSettlingBeginsAnewAfterAHole(t *testing.T) {
	var s settling
	for range leastLook - 1 {
		s.add(1000, 0)
	}
	s.rested()
	if s.add(0, 0) != goOn || len(s.rates) != 0 || len(s.rests) != 0 {
		t.Errorf("%+v", s)
	}
	got := ""
	for i := range leastLook {
		switch s.add(1000, 0) {
		case restNow:
			s.rested()
			got += fmt.Sprintf("rest after %d, ", i+1)
		case isSettled:
			got += fmt.Sprintf("settled after %d", i+1)
		case goOn:
		}
	}
	if want := fmt.Sprintf("rest after %d, settled after %d", firstRest, leastLook); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Without a rest nothing settles, whatever comes of it.
func TestSettlingAsksForARest(t *testing.T) {
	var s settling
	asked := 0
	for range 60 {
		switch s.add(1000, 5) {
		case restNow:
			asked++
		case isSettled:
			t.Fatal("settled without a rest")
		case goOn:
		}
	}
	if asked < 2 {
		t.Errorf("a rest was asked for %d times", asked)
	}
}
