package app

import (
	"os"
	"testing"

	"locbench/internal/launch"
	"locbench/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.AloneOnMachine(m, launch.RunsVariable)) }
