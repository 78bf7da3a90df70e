//go:build acceptance && timing && linux

package main

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

// TestTry: with built images, "try" of two contenders takes at most 5 s longer than
// their start-up.
func TestTry(t *testing.T) {
	testenv.Docker(t)
	images(t, "golang:1.26-bookworm", "node:20-bookworm-slim")
	dir := ordersFolder(t)
	for _, runtime := range []string{"docker", "process"} {
		t.Run(runtime, func(t *testing.T) {
			try := func() (time.Duration, string) {
				began := time.Now()
				c := startIn(t, dir, []string{"PASSWORD=" + ordersPassword}, "try", "bench.yaml", "--services", "svc", "--runtime", runtime)
				c.succeeds(10 * time.Minute)
				return time.Since(began), c.stdout.String()
			}
			try() // builds
			testenv.Judge(t, 6, 50*time.Millisecond, func(t testing.TB) error {
				took, text := try()
				ready := regexp.MustCompile(`ready after ([0-9.]+) (µs|ms|s)\n`).FindAllStringSubmatch(text, -1)
				if len(ready) != 2 {
					t.Fatalf("%d contenders were ready:\n%s", len(ready), text)
				}
				beyond := took
				for _, m := range ready {
					startUp, err := time.ParseDuration(m[1] + m[2])
					testenv.OK(t, err)
					beyond -= startUp
				}
				t.Logf("%v, %v of it beyond the start-ups", took, beyond)
				if beyond > 5*time.Second {
					return fmt.Errorf("it took %v, of which %v beyond the start-ups", took, beyond)
				}
				return nil
			})
		})
	}
}
