package app

import "runtime/debug"

// release is what the next version is called; the revision it was built from comes from the build
// information.
const release = "0.1.0-dev"

// Version names the release and the revision that it was built from.
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
