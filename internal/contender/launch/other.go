//go:build !linux

package launch

import (
	"context"
	"net/netip"
	"os/exec"
	"time"

	"github.com/locbench/locbench/internal/host/cgroup"
)

// Helper runs programs for locbench, such as builds of images.
type Helper struct {
	Run    string
	Groups cgroup.Tree
}

// Do starts cmd, and waits until it exits. The error is that of the start or the exit, or why ctx ended.
func (Helper) Do(ctx context.Context, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	if err := cmd.Wait(); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// Here no contender is a process of this machine.

func cleanProcesses(string, func(what, owner string) bool) ([]string, error) { return nil, nil }
func processGone(int) bool                                                   { return false }
func processAilment(int) string                                              { return "" }
func logProcesses(int, int) []int                                            { return nil }
func ownCPU([]int) *time.Duration                                            { return nil }
func handles(int, string) bool                                               { return false }
func containerListens(int, string) []netip.AddrPort                          { return nil }
