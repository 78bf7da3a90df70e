package contender

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// BuildRecord is the time of a contender's last build that was not cached. It is stored next to the
// builds of the process runtime, so a later run with a cached build still has it.
type BuildRecord struct {
	BuildTime time.Duration `json:"build_ns"`
	NoCache   bool          `json:"no_cache,omitempty"` // a full build, without the engine's cache
	Image     string        `json:"image,omitempty"`
	Dir       string        `json:"dir,omitempty"` // process runtime: the folder, which depends on the sources
}

// Of reports whether the record is about this artifact, not about one of other sources.
func (r BuildRecord) Of(a bench.Artifact) bool { return r.Image == a.Image && r.Dir == a.Dir }

const maxRecord = 64 << 10

// RecordBuild stores the time of a build. A cached build changes nothing.
func RecordBuild(svc bench.Service, rt bench.Runtime, a bench.Artifact, o BuildOptions) error {
	if a.BuildCached || a.BuildTime <= 0 {
		return nil
	}
	// A full build of the same artifact says more than one that used the cache.
	if r, ok := LastBuild(svc, rt, o); ok && r.NoCache && !o.Rebuild && r.Of(a) {
		return nil
	}
	file, err := recordFile(svc, rt, o)
	if err != nil {
		return err
	}
	return writeJSON(file, BuildRecord{a.BuildTime, o.Rebuild, a.Image, a.Dir})
}

// LastBuild returns the record of a resolved contender's last build, of any sources, if any.
func LastBuild(svc bench.Service, rt bench.Runtime, o BuildOptions) (r BuildRecord, ok bool) {
	file, err := recordFile(svc, rt, o)
	if err != nil {
		return r, false
	}
	err = readJSON(safe.DirFS(filepath.Dir(file)), filepath.Base(file), maxRecord, &r)
	return r, err == nil && r.BuildTime > 0
}

// recordFile returns the record's path, which variants with the same build commands share.
func recordFile(svc bench.Service, rt bench.Runtime, o BuildOptions) (string, error) {
	cache, err := o.cache()
	if err != nil {
		return "", err
	}
	name := strings.ReplaceAll(label(svc), ":", "@")
	if rt.Traits().OnHost && svc.Process != nil {
		if name, _, err = processRecipe(svc, o); err != nil {
			return "", err
		}
	}
	return filepath.Join(cache, name+"."+string(rt)+".json"), nil
}

// writeJSON replaces a file in one step.
func writeJSON(file string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return safe.WriteFile(file, append(safe.JSON(data), '\n'))
}

func readJSON(fsys fs.FS, name string, most int64, value any) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := safe.ReadAll(f, name, most)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}
