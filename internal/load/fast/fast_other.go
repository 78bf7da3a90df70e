//go:build !linux

package fast

import "context"

// Loop is not there but on Linux.
type Loop struct{}

// New returns nil: only the portable loop will do.
func New(Config) *Loop { return nil }

// Connect is not called.
func (*Loop) Connect(context.Context) {}

// Run is not called.
func (*Loop) Run(context.Context) {}

// Cut is not called.
func (*Loop) Cut() {}

// Close is not called.
func (*Loop) Close() {}
