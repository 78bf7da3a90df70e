package container

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench/units"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// differences returns the keys by which two services differ, in order. Files count by their
// content.
func differences(a, b bench.NeedSpec) (out []needs.Difference) {
	complete(&a)
	complete(&b)
	sb := specOf(b)
	sb.filesOf(specOf(a))
	sb.put(&b)
	run := bench.Run{Profile: bench.Profile{Needs: []bench.NeedSpec{a, b}}}
	masked := secret.New(secret.Of(run, nil)...).Run(run).Profile.Needs
	x, y, shownX, shownY := leaves(a), leaves(b), leaves(masked[0]), leaves(masked[1])
	both := maps.Clone(x)
	maps.Copy(both, y)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		if x[key] != y[key] {
			out = append(out, needs.Difference{Key: key, A: shownX[key], B: shownY[key]})
		}
	}
	return out
}

// filesOf gives s the paths of another service whose files have the same content.
func (s *service) filesOf(other service) {
	s.Seed, s.EnvFile, s.Volumes = slices.Clone(s.Seed), slices.Clone(s.EnvFile), slices.Clone(s.Volumes)
	for i := range s.Seed {
		s.Seed[i].Volumes = slices.Clone(s.Seed[i].Volumes)
	}
	one := func(path *string, of string) {
		if *path != "" && of != "" && sameFiles(*path, of) {
			*path = of
		}
	}
	if a, b := string(s.Dockerfile), string(other.Dockerfile); a != "" && filepath.Base(a) == filepath.Base(b) &&
		sameFiles(filepath.Dir(a), filepath.Dir(b)) { // its folder is built
		s.Dockerfile = other.Dockerfile
	}
	for i := range s.Seed[:min(len(s.Seed), len(other.Seed))] {
		mine, others := s.Seed[i], other.Seed[i]
		one(&s.Seed[i].File, others.File)
		for j := range mine.Volumes[:min(len(mine.Volumes), len(others.Volumes))] {
			one(&mine.Volumes[j].Source, others.Volumes[j].Source)
		}
	}
	for i := range s.EnvFile[:min(len(s.EnvFile), len(other.EnvFile))] {
		one(&s.EnvFile[i], other.EnvFile[i])
	}
	for i := range s.Volumes[:min(len(s.Volumes), len(other.Volumes))] {
		one(&s.Volumes[i].Source, other.Volumes[i].Source)
	}
}

// leaves returns the values of a service by their keys, such as "limits.memory".
func leaves(n bench.NeedSpec) map[string]string {
	all := map[string]string{}
	var walk func(prefix string, of map[string]any)
	walk = func(prefix string, of map[string]any) {
		for key, value := range of {
			text, isText := value.(string)
			number, isNumber := value.(float64)
			short, isTime := strings.CutSuffix(key, "_ns")
			if inner, ok := value.(map[string]any); ok {
				walk(prefix+key+".", inner)
				continue
			}
			switch {
			case isText:
			case isNumber && isTime:
				text = units.Exact(time.Duration(number))
			case isNumber && (key == "memory" || key == "shm_size"):
				text = strictyaml.FormatBytes(int64(number))
			default:
				raw, _ := json.Marshal(value) // it was JSON
				text = string(raw)
			}
			all[prefix+short] = text
		}
	}
	var of map[string]any
	_ = json.Unmarshal(n.Of.JSON(), &of) // put has written it
	delete(of, "base")
	walk("", of)
	if n.URL != "" {
		all["external"] = n.URL
	}
	return all
}

// How much of two folders is compared: larger ones count as different.
const (
	maxCompared      = 10_000 // files
	maxComparedBytes = 1 << 30
)

// sameFiles reports whether two files, or all files of two folders, have the same content.
func sameFiles(a, b string) bool {
	if a == b {
		return true
	}
	x, errA := listed(a)
	y, errB := listed(b)
	if errA != nil || errB != nil || !slices.Equal(x, y) || len(x) == 0 {
		return false
	}
	return !slices.ContainsFunc(x, func(f listedFile) bool {
		return !sameContent(filepath.Join(a, f.name), filepath.Join(b, f.name))
	})
}

// listedFile is a file below a path.
type listedFile struct {
	name string
	mode fs.FileMode
	size int64
}

// listed returns the files below a path, which may be a file.
func listed(root string) (all []listedFile, err error) {
	left := int64(maxComparedBytes)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		left -= info.Size()
		if len(all) == maxCompared || left < 0 || !info.Mode().IsRegular() {
			return fmt.Errorf("%s has too much to compare, or no file", path)
		}
		all = append(all, listedFile{name, info.Mode(), info.Size()})
		return err
	})
	return all, err
}

func sameContent(a, b string) bool {
	x, errA := safe.Open(a)
	if errA != nil {
		return false
	}
	defer x.Close()
	y, errB := safe.Open(b)
	if errB != nil {
		return false
	}
	defer y.Close()
	var bufA, bufB [64 << 10]byte
	for {
		n, errA := io.ReadFull(x, bufA[:])
		m, errB := io.ReadFull(y, bufB[:])
		switch {
		case n != m || string(bufA[:n]) != string(bufB[:m]):
			return false
		case errA != nil || errB != nil:
			return n == m && (errA == io.EOF || errA == io.ErrUnexpectedEOF)
		}
	}
}
