package app

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/text/safe"
)

// maxLastBuilds is the length in bytes of the file of last builds at which a new one begins.
const maxLastBuilds = 256 << 10

// lastBuilds returns how long the last build of each contender took that was not cached, by builtAs,
// and the file in the user's cache that has these times.
func lastBuilds() (all map[string]time.Duration, file string) {
	all = map[string]time.Duration{}
	dir, err := safe.Cache()
	if err != nil {
		return all, ""
	}
	file = filepath.Join(dir, "builds.json")
	if data, err := safe.ReadFile(file, maxLastBuilds); err == nil && json.Unmarshal(data, &all) != nil {
		all = map[string]time.Duration{}
	}
	return all, file
}

// recordBuild keeps how long a build took. Without it an estimate is without builds, so no error is
// reported.
func recordBuild(key string, a bench.Artifact) {
	all, file := lastBuilds()
	if a.BuildCached || a.BuildTime <= 0 || file == "" {
		return
	}
	all[key] = a.BuildTime
	if data, err := json.Marshal(all); err == nil {
		_ = safe.WriteFile(file, data)
	}
}

// builtAs names what a contender is built as: some settings of one share their image.
func builtAs(svc bench.Service, rt bench.Runtime) string {
	return string(rt) + " " + svc.Dir + " " + svc.Name + ":" + contender.BuiltAs(svc)
}
