//go:build !unix

package results

import (
	"os"
	"time"
)

// locks says that there is no lock that tells whether somebody writes.
const locks = false

// lock does nothing where there is no flock: there two locbenches on one folder are not kept apart.
func lock(*os.File) error { return nil }

// quiet is how long nothing may have been written for the writer to count as gone.
const quiet = time.Minute

// locked guesses, where there is no lock to ask.
func locked(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && time.Since(st.ModTime()) < quiet
}
