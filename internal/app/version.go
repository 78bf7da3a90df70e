package app

import "runtime/debug"

// release is the next version. Version adds the revision from the build information.
const release = "0.1.0-dev"

// Version returns the release and the revision of this binary.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	v, dirty := release, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			v += "+" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ".dirty"
		}
	}
	return v + dirty
}
