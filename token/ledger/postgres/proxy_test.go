package postgres

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// fault is something that a proxy does to a connection, once.
type fault int32

const (
	none       fault = iota
	cutWrites        // ends it at the first write, which does not reach the server
	dropCommit       // ends it at COMMIT, which does not reach the server
	loseAnswer       // ends it when the server has answered COMMIT
	hangAnswer       // keeps it, and the answer to COMMIT to itself
	lateCommit       // ends the client's side at COMMIT, which reaches the server when it is let go
	lateBegin        // keeps a transaction of Apply from the server until it is let go
	stallLong        // passes a part of a long message on, and then nothing more
	fallSilent       // passes some messages behind the one that takes the lock on, and then nothing more
)

// stallBytes is how much of a long message stallLong passes on.
const stallBytes = 1 << 20

// proxy passes connections on to the server until a test injects a fault.
type proxy struct {
	listener net.Listener
	socket   string
	next     atomic.Int32
	struck   chan struct{} // the fault has happened
	letGo    chan struct{} // what is late may go on
	after    int           // messages that fallSilent passes on
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{socket: server.Socket(t), struck: make(chan struct{}, 1), letGo: make(chan struct{})}
	p.listener = must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = p.listener.Close() })
	go func() {
		for {
			client, err := p.listener.Accept()
			if err != nil {
				return
			}
			go p.pass(client)
		}
	}()
	return p
}

func (p *proxy) url() string {
	return "postgres://zkbench@" + p.listener.Addr().String() + "/postgres?sslmode=disable"
}

// pass serves one connection.
func (p *proxy) pass(client net.Conn) {
	defer client.Close()
	to, err := net.Dial("unix", p.socket)
	if err != nil {
		return
	}
	defer to.Close()
	var gag atomic.Bool // keeps what the server says from the client
	committed := make(chan struct{})
	go func() {
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := to.Read(buf)
			if err != nil {
				return
			}
			if gag.Load() {
				if bytes.Contains(buf[:n], []byte("COMMIT\x00")) { // one short message in one read
					close(committed)
				}
				continue
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	in := bufio.NewReader(client)
	lock, behind := []byte(nil), -1 // the name of the statement that takes it, and messages since
	for first := true; ; first = false {
		f := fault(p.next.Load())
		if head, err := in.Peek(5); f == stallLong && err == nil && binary.BigEndian.Uint32(head[1:]) > stallBytes && !first {
			_, _ = io.CopyN(to, in, stallBytes)
			p.hush()
			return
		}
		message, err := readMessage(in, first)
		if err != nil {
			return
		}
		if text, parse := bytes.CutPrefix(message, []byte("P")); parse && bytes.Contains(message, []byte("FOR UPDATE")) {
			lock, _, _ = bytes.Cut(text[4:], []byte{0})
		}
		if f = fault(p.next.Load()); f == fallSilent {
			if behind >= 0 {
				behind++
			} else if message[0] == 'B' && lock != nil && bytes.Contains(message, lock) {
				behind = 0
			}
			if behind > p.after {
				p.hush()
				return
			}
		}
		commit := message[0] == 'Q' && bytes.Contains(message, []byte("COMMIT"))
		switch {
		case f == cutWrites && message[0] == 'E' && message[5] != 0, f == dropCommit && commit:
			p.next.Store(int32(none))
			p.struck <- struct{}{}
			return
		case (f == loseAnswer || f == hangAnswer || f == lateCommit) && commit:
			p.next.Store(int32(none))
			gag.Store(true)
			if f == lateCommit {
				_ = client.Close()
				<-p.letGo
			}
			if _, err := to.Write(message); err != nil {
				return
			}
			<-committed
			p.struck <- struct{}{}
			if f != hangAnswer {
				return
			}
		case f == lateBegin && message[0] == 'P' && bytes.Contains(message, []byte("BEGIN ISOLATION LEVEL READ COMMITTED")):
			p.next.Store(int32(none))
			p.struck <- struct{}{}
			<-p.letGo
			fallthrough
		default:
			if _, err := to.Write(message); err != nil {
				return
			}
		}
	}
}

// hush keeps the server's side open and sends nothing until it is released.
func (p *proxy) hush() {
	p.next.Store(int32(none))
	p.struck <- struct{}{}
	<-p.letGo
}

// readMessage reads one message of PostgreSQL's protocol; the first of a
// connection has no type.
func readMessage(r io.Reader, first bool) ([]byte, error) {
	head := make([]byte, 5)
	if first {
		head = head[:4]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[len(head)-4:])
	message := append(head, make([]byte, length-4)...)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}
