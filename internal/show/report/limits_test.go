package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// Page and Markdown name the limit of each contender, and have no tiers, where limits differ.
func TestLimitsOfEachContender(t *testing.T) {
	run, trials := small()
	whole := run.Profile.Contenders
	run.Profile.Limits = bench.Limits{CPUs: 1, Memory: 512 << 20}
	run.Profile.Settings = []bench.Settings{{Selection: whole[0], Limits: bench.Limits{CPUs: .5, Memory: 256 << 20}}}
	testenv.Contains(t, strings.ReplaceAll(string(render(t, run, trials)), nbsp, " "), "under 0.5 CPUs, 256 MiB",
		whole[0].String()+" 256 MiB; ", whole[0].String()+" 0.5 CPUs, ")
	var b bytes.Buffer
	testenv.OK(t, Markdown(&b, analysis.Of(run, trials), Options{}))
	testenv.Contains(t, b.String(), whole[0].String()+" under 0.5 CPUs, 256 MiB |")
}
