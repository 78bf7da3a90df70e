//go:build !linux

package load

import "errors"

var errLinuxOnly = errors.New("it is a part of Linux")

func hasEpoll() error { return errLinuxOnly }
func hasRing() error  { return errLinuxOnly }
