package cli

import (
	"bufio"
	"context"
	"io"
	"sync"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/docker"
)

// builder makes what can be started of a contender: an image, or a binary.
type builder struct {
	runtime bench.Runtime
	engine  *docker.Engine // docker only
	rebuild bool           // even what is unchanged
}

// build tells the output of the build line by line.
func (b builder) build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	out, done := lineWriter(progress)
	defer done()
	switch b.runtime {
	case bench.RuntimeURL:
		return bench.Artifact{}, nil
	case bench.RuntimeDocker:
		return contender.BuildImage(ctx, b.engine, svc, contender.BuildOptions{Out: out, Rebuild: b.rebuild})
	}
	return contender.BuildProcess(ctx, svc, contender.BuildOptions{Out: out, Rebuild: b.rebuild})
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
