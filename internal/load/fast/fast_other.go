//go:build !linux

package fast

import (
	"context"
	"errors"
)

// Loop exists only on Linux; none of these methods is called.
type Loop struct{}

// New returns an error: the loop runs only on Linux.
func New(Config) (*Loop, error) { return nil, Has(false) }

// Has returns an error: the loop runs only on Linux.
func Has(bool) error { return errors.New("it needs Linux") }

func (*Loop) Connect(context.Context) {}
func (*Loop) Run(context.Context)     {}
func (*Loop) Cut()                    {}
func (*Loop) Close()                  {}
