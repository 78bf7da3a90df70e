package needs

import "github.com/locbench/locbench/internal/bench"

// Setup is what a kind of needs has on the setup page. The page shows its fields if the profile
// has a need of the kind.
type Setup struct {
	Fields []Field
	// Likely is a URL at which one may run already.
	Likely string
	// URL returns the URL of the external one that was chosen; "" without one.
	URL func(f Form) string
	// Problems returns why a run cannot start, or may give worse results.
	Problems func(f Form) []Problem
}

// Field is a line of the setup page. What it leaves out is as its option has it.
type Field struct {
	Name        string // that of its option, or another one of a field that is not one option
	Label, Help string
	Options     []string // those that undoing it unsets
	Required    bool     // without the option, the run would be different: it is also given without a value
	Get         func(f Form) string
	Set         func(f Form, value string)
	Choices     func(f Form) []Choice // nil: its value is typed
	Note        func(f Form) string   // what the value means here
	Hidden      func(f Form) bool     // it has no effect now
}

// Choice is one of the values of a field.
type Choice struct{ Value, Help string }

// Form is the state of the setup page.
type Form interface {
	Need() bench.NeedSpec                  // that of the profile, without options
	Given(option string) (string, bool)    // its text, if it was given
	Option(name string) string             // the text given, or the profile's value
	Last(option string) string             // the last text given, also if it was unset since
	Give(option, text string)              //
	Unset(options ...string)               //
	Wrong(field string) bool               // its value was refused
	Probed(url string) (p Probe, ok bool)  // false: not known yet
	NoEngine() (why string, responds bool) // why there is no container engine; "": it may respond
}

// Problem is a reason why a run cannot start, or may give worse results.
type Problem struct {
	Field string
	Text  string
	Bad   bool // it cannot start
	Input bool // a mistake in the setup
	Fixes []Fix
}

// Fix is what solves a problem.
type Fix struct {
	Text   string
	Change func()
	Copy   []string // a command of locbench to copy, in place of a change
}
