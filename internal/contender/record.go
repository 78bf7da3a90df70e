package contender

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// buildRecord is stored next to the builds of the process runtime.
type buildRecord struct {
	BuildTime time.Duration `json:"build_ns"`
}

const maxRecord = 64 << 10

// RecordBuild stores the time of a build. A cached build changes nothing.
func RecordBuild(svc bench.Service, rt bench.Runtime, a bench.Artifact, o BuildOptions) error {
	if a.BuildCached || a.BuildTime <= 0 {
		return nil
	}
	file, err := recordFile(svc, rt, o)
	if err != nil {
		return err
	}
	data, err := json.Marshal(buildRecord{a.BuildTime})
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return safe.WriteFile(file, append(data, '\n'))
}

// LastBuild returns how long a resolved contender's last build took that was not cached, of any
// sources; 0 if that is not known.
func LastBuild(svc bench.Service, rt bench.Runtime, o BuildOptions) time.Duration {
	file, err := recordFile(svc, rt, o)
	if err != nil {
		return 0
	}
	var r buildRecord
	data, err := safe.ReadFile(file, maxRecord)
	if err != nil || json.Unmarshal(data, &r) != nil {
		return 0
	}
	return r.BuildTime
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
