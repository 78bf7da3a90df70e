package app

import (
	"context"
	"fmt"

	"locbench/internal/bench"
	"locbench/internal/contender"
	"locbench/internal/lines"
	"locbench/internal/platform"
)

// Builder makes what can be started of a contender: an image, or a binary.
type Builder struct {
	platform.Builder
	Runtime bench.Runtime
	Rebuild bool // even what is unchanged
}

// Build tells the output of the build line by line.
func (b Builder) Build(ctx context.Context, svc bench.Service, progress func(string)) (bench.Artifact, error) {
	if !platform.Builds(b.Runtime) {
		return bench.Artifact{}, nil
	}
	out, done := lines.Each(progress)
	defer done()
	opts := contender.BuildOptions{Out: out, Rebuild: b.Rebuild}
	a, err := b.Builder.Build(ctx, svc, opts)
	if err == nil {
		a.Sources, _ = contender.SourceHash(svc) // "" where only the manifest is at hand
		if err := contender.RecordBuild(svc, b.Runtime, a, opts); err != nil {
			fmt.Fprintf(out, "what the build has taken is not kept: %v\n", err)
		}
	}
	return a, err
}
