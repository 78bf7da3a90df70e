//go:build unix

package limits

import "golang.org/x/sys/unix"

// raiseFiles returns how many files may be open, after raising a soft limit below need to the hard
// limit. (The Go runtime does so at its start; this is for a limit lowered since.)
func raiseFiles(need int64) (have int64, ok bool) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, false
	}
	if uint64(limit.Cur) < uint64(need) && limit.Cur < limit.Max {
		raised := limit
		raised.Cur = raised.Max
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	// An unlimited number does not fit into an int64.
	return int64(min(uint64(limit.Cur), 1<<62)), true
}
