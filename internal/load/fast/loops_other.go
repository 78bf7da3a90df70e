//go:build !linux

package fast

import "errors"

var errLinuxOnly = errors.New("it is a part of Linux")

// HasEpoll tells why this system has no epoll, nil where it has.
func HasEpoll() error { return errLinuxOnly }

// HasRing tells why this system gives no io_uring, nil where it does.
func HasRing() error { return errLinuxOnly }
