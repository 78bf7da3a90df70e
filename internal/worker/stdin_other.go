//go:build !unix

package worker

import (
	"io"
	"os"
)

// wakeable is r such that wake ends a Read that waits, and all later ones. wake tells whether it
// could: nothing wakes the reader of standard input here, so it ends with the process.
func wakeable(r io.Reader) (in io.Reader, wake func() bool) {
	if _, ok := r.(*os.File); ok {
		return r, func() bool { return false }
	}
	return r, closer(r)
}
