package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locbench/locbench/internal/text/safe"
)

// Limits of what is read: a results folder may come from anywhere.
const (
	maxFile   = 128 << 20 // bytes of one JSON file: a trial of one day has about 75 MB
	maxTotal  = 4 << 30   // bytes of all trial files
	maxLine   = 16 << 20  // bytes of one line of events.jsonl
	maxTrials = 100_000
	maxSteps  = 100_000
)

// removeTemporary removes files of a killed safe.WriteFile from dir, which needs no other writer.
func removeTemporary(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		for _, name := range []string{"?*.json", SummaryFile, ReportFile} {
			if ok, _ := filepath.Match("."+name+".tmp[0-9]*", e.Name()); ok && e.Type().IsRegular() {
				failed = append(failed, os.Remove(filepath.Join(dir, e.Name())))
			}
		}
	}
	return errors.Join(failed...)
}

// WriteJSON writes v as indented JSON with safe.WriteFile.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return safe.WriteFile(path, append(safe.JSON(data), '\n'))
}

// readJSON reads the file at path in dir into v: one JSON value of at most most bytes. name is its
// name in errors. A link out of dir is an error.
func readJSON(dir *os.Root, path, name string, most int64, v any) error {
	f, err := safe.OpenIn(dir, path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := safe.ReadAll(f, name, most)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, place(data, err))
	}
	return nil
}

// place adds the line to a JSON error, which has only the offset.
func place(data []byte, err error) error {
	var offset int64 = -1
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = e.Offset
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = e.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:offset], []byte("\n")), err)
}
