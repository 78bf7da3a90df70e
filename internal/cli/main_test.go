package cli

import (
	"os"
	"testing"

	"github.com/locbench/locbench/internal/run/machine"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.AloneOnMachine(m, machine.RunsVariable)) }
