package needs

import (
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// Kind is a kind of needs: its form in profiles, and how a run finds it. A nil function does
// nothing.
type Kind struct {
	Name string                                  // of a need with its own form, in profiles
	Read func(v strictyaml.Value) bench.NeedSpec // absent keys have defaults
	// Complete fills in what a need that has its name leaves out. It may be called again.
	Complete func(n *bench.NeedSpec)
	// Wrong returns the mistakes of a need that Read has read or options have changed.
	Wrong func(n bench.NeedSpec) []Mistake
	// Traits returns what a run knows of a need before it finds it. nil: the zero value.
	Traits func(n bench.NeedSpec) Traits
	// Files returns the files and folders of this machine that it uses.
	Files func(n bench.NeedSpec) []File
	// Runs returns what it runs, such as its image and its commands, for a person who decides whether
	// it may.
	Runs func(n bench.NeedSpec) []string
	// Find finds the need and its data before anything is started. Its errors are about the
	// profile. url is that of an external one, with its user, which n does not have.
	Find func(n bench.NeedSpec, p bench.Profile, url string) (Found, error)
	// Missing is what is wrong with an external need without a URL.
	Missing string
}

// Traits are what a run knows of a need before it finds it.
type Traits struct {
	After    []string // the needs that must be ready and seeded before it is opened, which are at its key "after"
	Hosts    []string // more names by which contenders and other needs find it
	Restarts bool     // it starts again for each trial
	Own      bool     // each of several interleaved contenders has its own copy
	Memory   int64    // limit of each copy in bytes; 0: none
	Shared   string   // what it means that they share it, as part of a sentence; "": nothing
}

// File is a file or folder that a need uses.
type File struct {
	Key, Path string // where the need names it, and its whole path
	Built     bool   // it is a Dockerfile, whose folder is built
}

// Mistake is a broken rule of a need.
type Mistake struct {
	Path  string // of the key below the need
	Value string // the wrong value; "": What says what is wrong
	What  string
	Hint  string
}

// Provided is what requests and checks get from a need, unless the profile has its own.
type Provided struct {
	Data      bool     // values for {id}, and known responses; its contenders keep the lifecycle contract
	Languages []string // values for {language}
	Suites    []string // check suites that expect its data
}

// Option is an option of the command line that changes a need of its kind.
type Option struct {
	Name    string // flag without dashes
	Key     string // key below the need, such as "latency"
	Type    string // type of the flag's value, in the terms of package pflag
	Usage   string // text in --help
	Default string // the flag's default; "": the profile's value
	Values  []string
	With    string // the option without which it may not be given; "": none
	Folder  bool   // its value is one

	Label, Help string // field on the setup page; "": none

	Get func(n bench.NeedSpec) string // nil: it is only written
	Set func(e Edit, text string) error
}

// Edit applies an option to a need.
type Edit struct {
	Need *bench.NeedSpec
	// Refuse returns an error for a wrong text of the option, with a remedy.
	Refuse func(hint string) error
	Given  func(option string) (text string, ok bool)
	Getenv func(string) string // nil: no variable is set
}
