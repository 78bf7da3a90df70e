//go:build !linux

package thread

import "time"

func sharpen() {}

// Prefer does nothing on this system.
func Prefer() bool { return false }

func preferOverAll() bool { return false }

// Ordinary does nothing on this system.
func Ordinary() {}

// Sleep sleeps for d.
func Sleep(d time.Duration) { time.Sleep(d) }

// Wait makes waits that are not announced to the Go scheduler, on Linux.
type Wait struct{}

// Driving does nothing on this system.
func Driving() (done func()) { return func() {} }

// Sleep sleeps for d.
func (*Wait) Sleep(d time.Duration) { time.Sleep(d) }
