package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
	"github.com/locbench/locbench/internal/text/safe"
)

func TestReadControls(t *testing.T) {
	in := `{"kind":"pause"}
garbage
{"kind":"` + strings.Repeat("x", 2*controlLine) + `"}
{"kind":"rate","rate":50}
` + strings.Repeat(" ", controlLine) + `{"kind":"abort"}

{"kind":"resume"}
` + strings.Repeat("pause\n", 100) + `{"kind":"abort"}
{"kind":"stop_after_step"}`
	controls := make(chan bench.Control, 1000)
	readControls(strings.NewReader(in), controls, nil)
	close(controls)
	var good []bench.ControlKind
	bad := 0
	for c := range controls {
		if c.Validate() == nil {
			good = append(good, c.Kind)
		} else if bad++; len(c.Kind) > 100 {
			t.Errorf("a kind of %d bytes", len(c.Kind))
		}
	}
	if len(good) != 3 || good[0] != bench.ControlPause || good[1] != bench.ControlResume || good[2] != bench.ControlAbort {
		t.Errorf("controls %q", good)
	}
	testenv.Equal(t, bad, badControls, "bad lines reported")
}

func FuzzControls(f *testing.F) {
	line, _ := json.Marshal(bench.Control{Kind: bench.ControlPause})
	f.Add(append(line, '\n'))
	f.Add([]byte("\x1b[2J\n\n{}\nnull\n[1]\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		controls := make(chan bench.Control, len(in)+1)
		readControls(bytes.NewReader(in), controls, nil)
		close(controls)
		for c := range controls {
			testenv.Need(t, len(c.Kind) <= 4*controlLine, "a control of %d bytes", len(c.Kind))
			// A control is read back unchanged.
			line := testenv.Must(json.Marshal(c))(t)
			if c.Validate() == nil {
				again, ok := control(line)
				testenv.Need(t, ok && again == c, "%+v becomes %+v", c, again)
			}
		}
	})
}

// TestStandardInput: its end ends the run. After the run it is not read, even if it has no end.
func TestStandardInput(t *testing.T) {
	for _, kind := range []string{"system pipe", "reader"} {
		t.Run(kind, func(t *testing.T) {
			open := func() (io.Reader, io.WriteCloser) {
				if kind == "reader" {
					return io.Pipe()
				}
				r, w, err := os.Pipe()
				testenv.OK(t, err)
				t.Cleanup(func() { r.Close() })
				return r, w
			}
			r, w := open()
			err := Run(t.Context(), console.Env{Stdin: r}, func(ctx context.Context, controls <-chan bench.Control) error {
				go w.Write([]byte(`{"kind":"pause"}` + "\n"))
				c := <-controls
				testenv.Check(t, c.Kind == bench.ControlPause, "control %+v", c)
				return nil
			})
			testenv.Check(t, err == nil, "error %v", err)
			w.Close()

			r, w = open()
			err = Run(t.Context(), console.Env{Stdin: r}, func(ctx context.Context, _ <-chan bench.Control) error {
				w.Close()
				<-ctx.Done()
				return ctx.Err()
			})
			if !errors.Is(err, ErrScreenGone) || console.ExitCode(t.Context(), err) != console.ExitInterrupted {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestAnnounceKeepsTheFolder: the folder survives a writer that replaces unsafe characters.
func TestAnnounceKeepsTheFolder(t *testing.T) {
	const dir = "results/a\u202eb\u009bc"
	var b bytes.Buffer
	testenv.OK(t, Announce(safe.NewWriter(&b, nil), dir))
	var got announcement
	err := json.Unmarshal(b.Bytes(), &got)
	testenv.Check(t, err == nil && got.Dir == dir, "%q, %v", got.Dir, err)
}

func TestStandardErrorIsBounded(t *testing.T) {
	s, _ := newSession()
	for i := range 5000 {
		fmt.Fprintf(s.stderr, "warning %d\n", i)
	}
	fmt.Fprint(s.stderr, strings.Repeat("x", 3*safe.MaxLine))
	s.await(ending{})
	_, got := s.Wait()
	if n := strings.Count(got, "\n"); n != stderrLines || len(got) > stderrLines*20+safe.MaxLine || !strings.Contains(got, "\nwarning 4999\nxxx") {
		t.Errorf("%d lines, %d bytes: %.40q", n, len(got), got)
	}
}

func TestSendNeverWaits(t *testing.T) {
	s, _ := newSession()
	s.child = started{}
	var err error
	for range sessionQueue + 1 {
		err = errors.Join(err, s.Send(bench.Control{Kind: bench.ControlPause}))
	}
	testenv.Fails(t, err, "the run is not responding to controls")
	testenv.Check(t, s.Send(bench.Control{Kind: "dance"}) != nil, "an unknown control is sent")
}
