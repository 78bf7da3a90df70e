//go:build !linux

package load

import "errors"

func ringWorks() error { return errors.New("io_uring is Linux's") }
