package app

import (
	"io"
	"os"
	"testing"

	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/console"
)

var noEnv = console.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}

func TestMain(m *testing.M) { os.Exit(testenv.AloneOnMachine(m, machine.RunsVariable)) }
