package profile

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"locbench/internal/bench"
	"locbench/internal/strictyaml"
)

// itemIs begins what is said of an item of steps.
var itemIs = regexp.MustCompile("^`steps\\[\\d+\\]` is ")

// ParseSteps reads steps in the short form that items of a profile's steps may have ("64", "2..2048
// doubling", "1 x5 warm-up for 2s"). Those that do not say how long they last get length.
func ParseSteps(items []string, length time.Duration) ([]bench.Step, error) {
	data, err := strictyaml.Encode(struct {
		Steps []string `yaml:"steps"`
	}{items})
	if err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	var read struct {
		Steps steps `yaml:"steps" strict:"required,min=1,max=1000"`
	}
	mistakes, _ := errors.AsType[strictyaml.Mistakes](strictyaml.Decode("steps", data, &read))
	var all []error
	for _, m := range mistakes { // their lines mean nothing to the reader
		what := itemIs.ReplaceAllString(m.What, "")
		switch m.Hint {
		case "":
		case stepHint:
			what += " is no number of connections; write for example 64, 2..64 doubling, or 1 x5 warm-up"
		default:
			what += ": " + m.Hint
		}
		all = append(all, errors.New(what))
	}
	if all != nil {
		return nil, errors.Join(all...)
	}
	read.Steps.fill(length)
	return read.Steps, nil
}
