package apart

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// version is that of the format below and of all its calls.
const version = 1

// maxFrame bounds what one end believes of the other: the ids of a data set, a body.
const maxFrame = 64 << 20

// frame is what the two processes send each other: its length as four bytes, then JSON. A frame with
// a number is a call, whose reply has the same number; one without is a notice.
type frame struct {
	Number uint64          `json:"n,omitempty"`
	Call   string          `json:"call,omitempty"` // "": the reply to one
	Error  string          `json:"error,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// peer is one end. Each end calls the other.
type peer struct {
	// handle does what the other end calls. Notices come one after the other, in their order; calls
	// at any time.
	handle func(call string, data []byte) (any, error)

	writing sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	calls   uint64
	pending map[uint64]chan frame
	ended   chan struct{} // closed when the other end is gone
}

func newPeer(out io.Writer) *peer {
	return &peer{out: out, pending: map[uint64]chan frame{}, ended: make(chan struct{})}
}

// errGone is what calls get that the other end does not reply to any more.
var errGone = errors.New("the other process is gone")

// read serves the other end until it is gone; the error is nil if it has closed its pipe.
func (p *peer) read(in io.Reader) error {
	defer close(p.ended)
	for {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > maxFrame {
			return fmt.Errorf("a frame of %d bytes", n)
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return err
		}
		var f frame
		if err := json.Unmarshal(text, &f); err != nil {
			return fmt.Errorf("an unreadable frame: %w", err)
		}
		switch {
		case f.Call == "":
			p.mu.Lock()
			waits := p.pending[f.Number]
			delete(p.pending, f.Number)
			p.mu.Unlock()
			if waits != nil {
				waits <- f
			}
		case f.Number == 0:
			_, _ = p.handle(f.Call, f.Data)
		default:
			go p.serve(f)
		}
	}
}

func (p *peer) serve(f frame) {
	result, err := p.handle(f.Call, f.Data)
	reply := frame{Number: f.Number}
	if err != nil {
		reply.Error = err.Error()
	}
	_ = p.send(reply, result) // a peer that is gone needs none
}

func (p *peer) send(f frame, data any) (err error) {
	if data != nil {
		if f.Data, err = json.Marshal(data); err != nil {
			return err
		}
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(text) > maxFrame {
		return fmt.Errorf("%s: a frame of %d bytes", f.Call, len(text))
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err = p.out.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// tell sends a notice.
func (p *peer) tell(call string, data any) { _ = p.send(frame{Call: call}, data) }

// call calls the other end and waits for its result.
func (p *peer) call(call string, data, result any) error {
	waits := make(chan frame, 1)
	p.mu.Lock()
	p.calls++
	f := frame{Number: p.calls, Call: call}
	p.pending[f.Number] = waits
	p.mu.Unlock()
	if err := p.send(f, data); err != nil {
		select {
		case <-p.ended:
			return errGone
		default:
			return err
		}
	}
	select {
	case f = <-waits:
	case <-p.ended:
		select {
		case f = <-waits: // the last thing it said
		default:
			return errGone
		}
	}
	if len(f.Data) > 0 && result != nil {
		if err := json.Unmarshal(f.Data, result); err != nil {
			return fmt.Errorf("%s: %w", call, err)
		}
	}
	if f.Error != "" {
		return errors.New(f.Error)
	}
	return nil
}
