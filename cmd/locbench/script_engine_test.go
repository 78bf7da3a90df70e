//go:build acceptance && engine && unix

package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestAcceptanceScripts are the scripts that run and build contenders.
func TestAcceptanceScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/acceptance"))
}
