package app

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/docker"
	"github.com/locbench/locbench/internal/needs"
)

// seat is one of the trials that run at the same time in an interleaved run. Otherwise it is the
// zero value.
type seat struct {
	of     bench.Selection
	second bool // the second trial of a contender that is interleaved with itself
}

// ownNeeds are the needs of a contender of an interleaved run, in order: its copies, and those that
// all share.
type ownNeeds struct {
	needs []needs.Named
	group *docker.Group // for the copies; nil: there are none
}

// network returns the name of the network that the contender joins; "" if there is none.
func (o ownNeeds) network() string {
	if o.group == nil {
		return ""
	}
	return o.group.Network.Name
}

func selection(t bench.Trial) bench.Selection {
	return bench.Selection{Contender: t.Contender, Variant: t.Variant}
}

func (s *needset) seatOf(t bench.Trial) seat {
	if s.own == nil {
		return seat{}
	}
	return seat{selection(t), len(s.plan.Run.Profile.Contenders) == 1 && t.Round%2 == 0}
}

// needsOf returns the needs of a trial, in order.
func (s *needset) needsOf(of bench.Trial) (all []needs.Named) {
	if s.own != nil {
		return s.own[s.seatOf(of)].needs
	}
	for _, n := range s.all {
		if n.Gets(selection(of)) {
			all = append(all, n)
		}
	}
	return all
}

func isOwn(n needs.Named) bool { return n.Own }

// throughout returns the needs that run in all trials.
func (s *needset) throughout() []needs.Named {
	if s.own == nil {
		return s.all
	}
	return slices.DeleteFunc(slices.Clone(s.all), isOwn)
}

// running returns the needs that may run: those of all contenders.
func (s *needset) running() iter.Seq[needs.Named] {
	return func(yield func(needs.Named) bool) {
		for _, n := range s.throughout() {
			if !yield(n) {
				return
			}
		}
		for _, own := range s.own {
			for _, n := range own.needs {
				if n.Own && !yield(n) {
					return
				}
			}
		}
	}
}

// copyNeeds gives each contender of an interleaved run its own copies of the seeded needs, which do
// not run from then on. Each contender has a network for its copies, since they have equal names.
func (s *needset) copyNeeds(ctx context.Context, progress func(bench.Progress)) error {
	p := s.plan.Run.Profile
	if p.Interleave <= 0 || !slices.ContainsFunc(s.all, isOwn) {
		return nil
	}
	var seats []seat
	for _, sel := range p.Contenders {
		seats = append(seats, seat{of: sel})
	}
	if len(seats) == 1 {
		seats = append(seats, seat{p.Contenders[0], true})
	}
	s.own = map[seat]ownNeeds{}
	for _, at := range seats {
		if !slices.ContainsFunc(s.all, func(n needs.Named) bool { return n.Gets(at.of) && n.Own }) {
			continue
		}
		group, err := s.another(ctx, "needs-"+at.label())
		if err != nil {
			return err
		}
		s.own[at] = ownNeeds{group: group}
	}
	copies := map[string][]needs.Need{} // by the label of the need
	for _, n := range slices.Backward(s.all) {
		users := usersOf(seats, n)
		if !n.Own || len(users) == 0 {
			continue
		}
		copier, ok := n.Need.(needs.Copies)
		if !ok {
			return withLabel(n, errors.New("it cannot be copied; use --interleave off"))
		}
		var places []needs.Place
		for _, at := range users {
			place := s.placeOf(at.label(), progress)
			place.Of, place.Containers = at.label(), needs.Of{Group: s.own[at].group}
			places = append(places, place)
		}
		all, err := copier.Copy(ctx, places)
		if err != nil {
			return ofService(n, err)
		}
		copies[n.Label()] = all
	}
	for _, n := range s.all {
		for i, at := range usersOf(seats, n) {
			own := s.own[at]
			mine := n
			if n.Own {
				mine.Need, mine.For = copies[n.Label()][i], []bench.Selection{at.of}
			}
			own.needs = append(own.needs, mine)
			s.own[at] = own
		}
	}
	return nil
}

// usersOf returns the seats of the contenders that get a need.
func usersOf(seats []seat, n needs.Named) []seat {
	return slices.DeleteFunc(slices.Clone(seats), func(at seat) bool { return !n.Gets(at.of) })
}

// label names the contender: "bookings:new", and "bookings:new-2" of the second.
func (at seat) label() string {
	if at.second {
		return at.of.String() + "-2"
	}
	return at.of.String()
}

// closeOwn closes what contenders have for themselves.
func (s *needset) closeOwn(ctx context.Context) error {
	var errs []error
	for _, own := range s.own {
		for _, n := range slices.Backward(own.needs) {
			if n.Own {
				errs = append(errs, n.Need.Close(ctx))
			}
		}
		if own.group != nil {
			errs = append(errs, own.group.Close(ctx))
		}
	}
	return errors.Join(errs...)
}

// ReadOwn reads the needs that the contender of a trial has for itself.
func (s *needset) ReadOwn(of bench.Trial) map[string]*bench.NeedUsage { return usageOf(s.ownOf(of)) }

// ownOf returns the needs that the contender of a trial has for itself; nil if it shares them.
func (s *needset) ownOf(of bench.Trial) []needs.Named {
	if s.own == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.needsOf(of)), func(n needs.Named) bool { return !n.Own })
}
