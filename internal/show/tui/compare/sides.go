package compare

import (
	"errors"
	"fmt"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/analysis/compare"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// sides are the two runs, the old one first, and what came of comparing them.
type sides struct {
	dirs    [2]string
	runs    [2]*analysis.Run // nil until they are read
	floor   *compare.Floor
	unread  []string // what could not be read, as sentences
	swapped bool
	results []compare.Result // each of one contender, or of a pair of a run
	err     error            // instead of results
}

// one reports whether both sides are the same run.
func (s sides) one() bool { return s.dirs[0] == s.dirs[1] }

// load reads and compares both sides.
func (s sides) load(source ui.Source) sides {
	for i, dir := range s.dirs {
		if i > 0 && s.one() {
			s.runs[1] = s.runs[0]
			break
		}
		run, trials, err := source.Load(dir)
		switch {
		case err != nil && len(trials) == 0:
			s.err = errors.Join(s.err, fmt.Errorf("%s: %w", dir, err))
		case err != nil:
			s.unread = append(s.unread, dir+": "+err.Error())
		}
		s.runs[i] = analysis.Of(run, trials)
	}
	if s.err == nil {
		s.floor = source.Floor(s.runs[0].Run, s.runs[1].Run, s.dirs[:]...)
		s.compare()
	}
	return s
}

// swap compares the other way around.
func (s sides) swap() sides {
	s.swapped = !s.swapped
	s.dirs[0], s.dirs[1] = s.dirs[1], s.dirs[0]
	s.runs[0], s.runs[1] = s.runs[1], s.runs[0]
	s.compare()
	return s
}

// compare sets the results: of all contenders in common, or of all pairs of one run.
func (s *sides) compare() {
	options := compare.Options{Floor: s.floor}
	old, fresh := compare.Set{Run: s.runs[0]}, compare.Set{Run: s.runs[1]}
	s.results, s.err = nil, nil
	if !s.one() {
		var whole compare.Result
		whole, s.err = compare.Compare(old, fresh, options)
		for _, c := range whole.Contenders {
			one := whole
			one.Contenders = []compare.Contender{c}
			s.results = append(s.results, one)
		}
		return
	}
	all := s.runs[0].Ordered()
	for i, a := range all {
		for _, b := range all[i+1:] {
			if s.swapped {
				a, b = b, a
			}
			old.Contender, fresh.Contender = a.Label, b.Label
			result, err := compare.Compare(old, fresh, options)
			s.results, s.err = append(s.results, result), errors.Join(s.err, err)
		}
	}
	if len(all) < 2 {
		s.err = errors.New("the run has results of one contender only")
	}
}
