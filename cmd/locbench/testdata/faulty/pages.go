package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"syscall"
)

const (
	mib      = 1 << 20
	pageSize = 4096
	touched  = 16 // pages of the file per request
)

// pages are allocated memory, and a file that is read through a mapping.
type pages struct {
	mapped []byte
	kept   []byte
	sum    atomic.Int64
}

// fill creates memory and file, with sizes in MiB.
func (p *pages) fill(held, file int) error {
	f, err := os.Create("/pages")
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, mib)
	for i := range block {
		block[i] = byte(rand.Uint32())
	}
	for range file {
		if _, err := f.Write(block); err != nil {
			return fmt.Errorf("write the file: %w", err)
		}
	}
	if err := f.Sync(); err != nil { // dirty pages could not be dropped
		return err
	}
	if p.mapped, err = syscall.Mmap(int(f.Fd()), 0, file*mib, syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
		return fmt.Errorf("map the file: %w", err)
	}
	_ = syscall.Madvise(p.mapped, syscall.MADV_RANDOM)
	if p.kept, err = anonymous(held * mib); err != nil {
		return fmt.Errorf("hold memory: %w", err)
	}
	return nil
}

// anonymous returns size bytes of memory, with every page touched.
func anonymous(size int) ([]byte, error) {
	block, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	for i := 0; i < len(block); i += pageSize {
		block[i] = 1
	}
	return block, err
}

func (p *pages) readBack() {
	sum := int64(0)
	for range touched {
		sum += int64(p.mapped[rand.IntN(len(p.mapped)/pageSize)*pageSize])
	}
	p.sum.Add(sum)
}
