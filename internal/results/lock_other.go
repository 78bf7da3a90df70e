//go:build !unix

package results

import "os"

// lock does nothing where there is no flock: there two locbenches on one folder are not kept apart.
func lock(*os.File) error { return nil }
