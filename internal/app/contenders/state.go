package contenders

import (
	"fmt"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/services"
)

// KnownStates are the verified states that travel with the bundled contenders, and those of this
// user.
func KnownStates() ([]contender.States, error) {
	bundled, err := contender.ReadStates(services.FS, contender.VerifiedName)
	if err != nil {
		return nil, err
	}
	mine, err := contender.KnownStates(contender.BuildOptions{})
	return []contender.States{bundled, mine}, err
}

// VerifiedText is what is known of all variants of a contender together: the worst that holds for
// one of them.
func VerifiedText(svc bench.Service, known []contender.States) string {
	names := []string{""}
	if len(svc.Variants) > 0 {
		names = nil
		for _, v := range svc.Variants {
			names = append(names, v.Name)
		}
	}
	var good, stale, bad contender.Verified
	var goods, stales, bads int
	for _, name := range names {
		resolved, err := contender.Resolve(svc, name)
		if err != nil {
			continue
		}
		v, changed, ok := contender.VerifiedState(resolved, known...)
		later := func(of *contender.Verified, n *int) {
			*n++
			if v.When.After(of.When) {
				*of = v
			}
		}
		switch {
		case !ok:
		case v.Failure != "" && resolved.Unverified != "": // as its manifest says
		case changed:
			later(&stale, &stales)
		case v.Failure != "":
			later(&bad, &bads)
		default:
			later(&good, &goods)
		}
	}
	switch {
	case bads > 0:
		return bad.String()
	case goods == len(names):
		return good.String()
	case goods > 0:
		return fmt.Sprintf("%d of %d variants", goods, len(names))
	case stales > 0:
		return "changed since " + stale.When.Format("2006-01-02")
	}
	return "no"
}
