//go:build !linux

package fast

import (
	"context"
	"errors"
)

// Loop exists only on Linux; none of these methods is called.
type Loop struct{}

// New returns nil: only the portable loop runs here.
func New(Config) *Loop { return nil }

// Has returns an error: the loop runs only on Linux.
func Has(bool) error { return errors.New("it needs Linux") }

func (*Loop) Connect(context.Context) {}
func (*Loop) Run(context.Context)     {}
func (*Loop) Cut()                    {}
func (*Loop) Close()                  {}
