package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/docker"
)

// Builder makes what can be started of a contender: an image, or a binary.
type Builder struct {
	Runtime bench.Runtime
	Engine  *docker.Engine // docker only
	Rebuild bool           // even what is unchanged
}

// Build tells the output of the build line by line.
func (b Builder) Build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	out, done := lineWriter(progress)
	defer done()
	opts := contender.BuildOptions{Out: out, Rebuild: b.Rebuild}
	var a bench.Artifact
	var err error
	switch b.Runtime {
	case bench.RuntimeURL:
		return a, nil
	case bench.RuntimeDocker:
		a, err = contender.BuildImage(ctx, b.Engine, svc, opts)
	default:
		a, err = contender.BuildProcess(ctx, svc, opts)
	}
	if err == nil {
		a.Sources, _ = contender.SourceHash(svc) // "" where only the manifest is at hand
		if err := contender.RecordBuild(svc, b.Runtime, a, opts); err != nil {
			fmt.Fprintf(out, "what the build has taken is not kept: %v\n", err)
		}
	}
	return a, err
}

// lineWriter calls f for each line that is written. done ends it after the last line was told.
func lineWriter(f func(string)) (w io.Writer, done func()) {
	r, pipe := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		lines := bufio.NewReaderSize(r, 64<<10)
		for {
			line, _, err := lines.ReadLine() // longer lines come in pieces, which is good enough here
			if err != nil {
				_ = r.CloseWithError(io.EOF)
				return
			}
			if len(line) > 0 {
				f(string(line))
			}
		}
	})
	return pipe, func() {
		_ = pipe.Close()
		wg.Wait()
	}
}
