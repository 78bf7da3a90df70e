package tuitest

import (
	"os"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/show/tui/ui"
)

// Finished returns a run in dir that another process started and that has ended.
func Finished(dir string, records []bench.Record) ui.Session { return &finished{dir, records} }

type finished struct {
	dir     string
	records []bench.Record
}

func (f *finished) Dir() string            { return f.dir }
func (*finished) Send(bench.Control) error { return nil }
func (*finished) Wait() (int, string)      { return 0, "" }
func (*finished) Stop(os.Signal)           {}
func (*finished) Detach() error            { return nil }
func (*finished) CanSteer() bool           { return false }

func (f *finished) Next() ([]bench.Record, bool) {
	records := f.records
	f.records = nil
	return records, records != nil
}
