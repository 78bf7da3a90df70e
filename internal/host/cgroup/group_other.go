//go:build !linux

package cgroup

import (
	"fmt"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/cpuset"
)

// Group is a group of processes; only Linux has groups.
type Group struct{}

// Create fails: only Linux has cgroups.
func (t Tree) Create(name string, _ bench.Limits, _ cpuset.Set) (*Group, error) {
	return nil, fmt.Errorf("create cgroup %s: %w on this operating system", name, ErrNone)
}

// CleanLeft removes nothing.
func (t Tree) CleanLeft(func(string) bool) ([]string, error) { return nil, nil }

// Probe fails: only Linux has cgroups.
func (t Tree) Probe(string) (missing []string, noSet, err error) {
	return nil, nil, fmt.Errorf("%w on this operating system", ErrNone)
}
