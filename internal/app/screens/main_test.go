package screens

import (
	"os"
	"testing"

	"locbench/internal/run/machine"
	"locbench/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.AloneOnMachine(m, machine.RunsVariable)) }
