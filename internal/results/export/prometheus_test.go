package export

import (
	"bytes"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Prometheus' own parser reads what is exported.
func TestPrometheusReadsTheExport(t *testing.T) {
	run, trials := fixture()
	var b bytes.Buffer
	if err := writePrometheus(&b, run, trials); err != nil {
		t.Fatal(err)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(families) < 5 || len(families["locbench_step_throughput"].GetMetric()) == 0 || families["locbench_step_latency_seconds"].GetMetric()[0].GetSummary() == nil {
		t.Errorf("%d families: %v", len(families), families)
	}
}
