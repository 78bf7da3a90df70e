package export

import (
	"bytes"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/locbench/locbench/internal/testenv"
)

// Prometheus' own parser reads what is exported.
func TestPrometheusReadsTheExport(t *testing.T) {
	run, trials := fixture()
	var b bytes.Buffer
	testenv.OK(t, writePrometheus(&b, run, trials))
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(&b)
	testenv.OK(t, err)
	if len(families) < 5 || len(families["locbench_step_throughput"].GetMetric()) == 0 || families["locbench_step_latency_seconds"].GetMetric()[0].GetSummary() == nil {
		t.Errorf("%d families: %v", len(families), families)
	}
}
