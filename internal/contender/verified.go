package contender

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

// VerifiedName is the file with the verified states, in the folder of the contenders' folders.
const VerifiedName = "verified.json"

// Verified is the result of "locbench services verify" for one variant of a contender.
type Verified struct {
	Sources   string        `json:"sources"` // SourceHash
	When      time.Time     `json:"when"`
	Failure   string        `json:"failure,omitempty"` // what failed; "": verified
	Locbench  string        `json:"locbench"`
	Engine    string        `json:"engine"`
	Kernel    string        `json:"kernel,omitempty"`
	Arch      string        `json:"arch,omitempty"`
	Store     string        `json:"store,omitempty"`
	Limits    string        `json:"limits,omitempty"`
	Passed    int           `json:"checks_passed"`
	Failed    int           `json:"checks_failed"`
	Skipped   int           `json:"checks_skipped"`
	BuildTime time.Duration `json:"build_ns,omitempty"` // of the last build without a cache
	ImageSize int64         `json:"image_bytes,omitempty"`
	StartUp   time.Duration `json:"start_up_ns,omitempty"`
	// Connections is the most connections of a step; 0: 64, from before this field.
	Connections int           `json:"connections,omitempty"`
	Throughput  float64       `json:"throughput,omitempty"` // successes per second of the last step, which is short
	Memory      int64         `json:"peak_memory_bytes,omitempty"`
	Stop        time.Duration `json:"stop_ns,omitempty"`
}

// States has verified states by "name:variant", or "name" for a contender without variants.
type States struct {
	Schema     int                 `json:"schema"`
	Contenders map[string]Verified `json:"contenders"`
}

const (
	statesSchema = 1
	maxStates    = 4 << 20
	maxHashed    = 64 << 20 // the most bytes of one source file
)

// SourceHash returns a hash of a contender's sources, which is the same for a checkout, another
// folder and the binary. It covers the files of a build and the manifest, without those that
// .dockerignore leaves out, descriptions, .gitignore and .git.
func SourceHash(svc bench.Service) (string, error) {
	list, err := sources(svc, ManifestName, "Dockerfile")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range list {
		if e.mode.IsDir() || noSource(e.name) {
			continue
		}
		if e.size > maxHashed {
			return "", fmt.Errorf("%s is too large for a source", e.name)
		}
		fmt.Fprintf(h, "%d:%s%d:%s%d:", len(e.name), e.name, len(e.link), e.link, e.size)
		if e.link == "" {
			if err := copyFile(h, svc.Files, e); err != nil {
				return "", fmt.Errorf("read %s: %w", e.name, err)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func noSource(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".md") || base == ".gitignore" || base == "rustfmt.toml" ||
		name == ".git" || strings.HasPrefix(name, ".git/") // a folder, or the file of a worktree
}

// ReadStates reads the verified states in fsys; without the file it returns none.
func ReadStates(fsys fs.FS, name string) (States, error) {
	var s States
	if err := readJSON(fsys, name, maxStates, &s); errors.Is(err, fs.ErrNotExist) {
		return States{}, nil
	} else if err != nil {
		return States{}, err
	}
	if s.Schema != statesSchema {
		return States{}, fmt.Errorf("read %s: schema %d, expected %d", name, s.Schema, statesSchema)
	}
	return s, nil
}

// KnownStates reads the states in this user's cache folder; without any the map is empty.
func KnownStates(o BuildOptions) (States, error) {
	cache, err := o.cache()
	if err != nil {
		return States{}, err
	}
	return ReadStates(safe.DirFS(cache), VerifiedName)
}

// KeepStates adds states to those in file; "": in the user's cache folder.
func KeepStates(file string, states map[string]Verified, o BuildOptions) error {
	if file == "" {
		cache, err := o.cache()
		if err != nil {
			return err
		}
		file = filepath.Join(cache, VerifiedName)
	}
	all, err := ReadStates(safe.DirFS(filepath.Dir(file)), filepath.Base(file))
	if err != nil {
		return err
	}
	if all.Contenders == nil {
		all = States{Schema: statesSchema, Contenders: map[string]Verified{}}
	}
	maps.Copy(all.Contenders, states)
	return writeJSON(file, all)
}

// VerifiedState returns the newest state of a resolved contender's present sources, or else the
// newest of earlier sources, with changed set. ok is false if there is none.
func VerifiedState(svc bench.Service, all ...States) (v Verified, changed, ok bool) {
	hash, err := SourceHash(svc)
	for _, s := range all {
		known, there := s.Contenders[label(svc)]
		if !there {
			continue
		}
		other := err != nil || known.Sources != hash
		if !ok || changed && !other || changed == other && known.When.After(v.When) {
			v, changed, ok = known, other, true
		}
	}
	return v, changed, ok
}

// String returns the result and its date: "yes 2026-11-22".
func (v Verified) String() string {
	word := "yes "
	if v.Failure != "" {
		word = "failed "
	}
	return word + v.When.Format(time.DateOnly)
}
