//go:build !linux

package fast

import (
	"context"
	"errors"
)

// Loop is not there but on Linux; none of its methods is called.
type Loop struct{}

// New returns nil: only the portable loop will do.
func New(Config) *Loop { return nil }

// Has returns that this system does not give the loop.
func Has(bool) error { return errors.New("it is a part of Linux") }

func (*Loop) Connect(context.Context) {}
func (*Loop) Run(context.Context)     {}
func (*Loop) Cut()                    {}
func (*Loop) Close()                  {}
