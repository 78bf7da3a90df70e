package app

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"locbench/internal/bench"
	"locbench/internal/compare"
	"locbench/internal/results"
)

// FloorFile is where 'locbench calibrate' leaves the noise floor in its results folder.
const FloorFile = "floor.json"

const (
	maxFloorBytes   = 1 << 20
	maxFloorFolders = 2000 // that are searched for one
)

// WriteFloor keeps the noise floor in the results folder dir.
func WriteFloor(dir string, f compare.Floor) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = results.WriteFile(filepath.Join(dir, FloorFile), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the noise floor: %w", err)
	}
	return nil
}

// FindFloor looks for the newest noise floor that fits both runs, in the folders of the two and
// those beside them. What cannot be read there is no floor: nil.
func FindFloor(before, after bench.Run, dirs ...string) (newest *compare.Floor) {
	seen := map[string]bool{}
	look := func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		f, err := ReadFloor(filepath.Join(dir, FloorFile))
		if err == nil && f.Fits(before) && f.Fits(after) && (newest == nil || f.Made.After(newest.Made)) {
			newest = &f
		}
	}
	for _, dir := range dirs {
		dir, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		dir = results.Folder(dir)
		look(dir)
		parent, err := os.Open(filepath.Dir(dir))
		if err != nil {
			continue
		}
		entries, _ := parent.ReadDir(maxFloorFolders)
		parent.Close()
		for _, e := range entries {
			if e.IsDir() {
				look(filepath.Join(filepath.Dir(dir), e.Name()))
			}
		}
	}
	return newest
}

// ReadFloor reads a noise floor.
func ReadFloor(path string) (f compare.Floor, err error) {
	if info, err := os.Stat(path); err != nil {
		return f, err
	} else if !info.Mode().IsRegular() {
		return f, fmt.Errorf("%s: not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return f, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFloorBytes))
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(data, &f)
}
