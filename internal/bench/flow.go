package bench

import (
	"fmt"
	"slices"
	"strings"
)

// Repeat says until when a request is sent again: until its response is as expected, at most a
// number of times. A response before that one is not unexpected.
type Repeat struct {
	Status []int       `json:"status,omitempty"`                              // it has one of these; empty: any that is expected
	Until  Expectation `json:"until,omitempty"`                               // what else the response must be
	Every  Duration    `json:"every_ns" yaml:"every" strict:"min=1ms,max=1h"` // from the end of a response to the next request
	Most   int         `json:"most" yaml:"most" strict:"min=2,max=10000"`     // number of times that the request is sent
}

// Reached returns nil if a status is one that ends the repetition.
func (r Repeat) Reached(status int) error {
	if len(r.Status) == 0 || slices.Contains(r.Status, status) {
		return nil
	}
	expected := strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Status), "[]"), " ", " or ")
	return fmt.Errorf("expected status %s, got %d", expected, status)
}

// Field is a field of a multipart body: a value, or a file.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty" yaml:"value"`                       // may contain {name}
	File  string `json:"file,omitempty" yaml:"file" strict:"min=1,max=1000"` // path of a file that is sent unchanged
	// name of the file for the contender, which may contain {name}; "": it is a value
	FileName string `json:"file_name,omitempty" yaml:"name" strict:"min=1,max=300"`
	Type     string `json:"type,omitempty" yaml:"type" strict:"min=1,max=200"` // media type; "": none is sent
}

// BodyFiles returns the paths of the files in the body of the request.
func (r Request) BodyFiles() (files []string) {
	if r.BodyFile != "" {
		files = append(files, r.BodyFile)
	}
	for _, f := range r.Multipart {
		if f.File != "" {
			files = append(files, f.File)
		}
	}
	return files
}

// Paced returns the name of a session or single request that has a pace; "" if there is none.
func (p Profile) Paced() string {
	for _, s := range p.Sessions {
		if s.Pace > 0 {
			return s.Name
		}
	}
	for _, r := range p.Requests {
		if r.Pace > 0 {
			return r.Name
		}
	}
	return ""
}

// Repeated returns the name of a request of the load that is repeated; "" if there is none.
func (p Profile) Repeated() string {
	for _, r := range p.Requests {
		if r.Repeat != nil && !r.SetUp {
			return r.Name
		}
	}
	return ""
}
