//go:build pkcs11 && cgo

package pkcs11

import (
	"cmp"
	"errors"
	"strings"
	"sync"

	p11 "github.com/miekg/pkcs11"
)

// library is the library of a vendor. PKCS #11 knows one state of it in a process, so all keys share it.
type library struct {
	path string
	keys int // that are open; guarded by libraries

	// mu is held during every call of the library: an operation takes several calls on its session, and nothing else may
	// run while the library starts anew.
	mu     sync.Mutex
	ctx    *p11.Ctx
	ours   bool // no other package of this program has started it
	starts int  // a session belongs to one start
}

// libraries are those with open keys. They are one table for the process, as PKCS #11 has one state for it.
var libraries = struct {
	sync.Mutex
	open map[string]*library
}{open: make(map[string]*library)}

// openLibrary loads and starts a library, unless it is open. Each call needs one of close.
func openLibrary(path string) (*library, error) {
	libraries.Lock()
	defer libraries.Unlock()
	l := libraries.open[path]
	if l == nil {
		ctx := p11.New(path)
		if ctx == nil {
			return nil, unavailable("module-path: %s is not a library of PKCS #11 that can be loaded here", path)
		}
		l = &library{path: path, ctx: ctx}
		if err := l.start(); err != nil {
			ctx.Destroy()
			return nil, unavailable("%s does not start: %v", path, err)
		}
		libraries.open[path] = l
	}
	l.keys++
	return l, nil
}

func (l *library) start() error {
	l.starts++
	err := l.ctx.Initialize()
	l.ours = err == nil
	if errors.Is(err, p11.Error(p11.CKR_CRYPTOKI_ALREADY_INITIALIZED)) {
		return nil
	}
	return err
}

func (l *library) stop() error {
	if !l.ours {
		return nil
	}
	return l.ctx.Finalize()
}

// restart starts the library anew, which ends the sessions of all keys. Some libraries see a token that came back, or a
// service that started again, only then.
func (l *library) restart() error {
	_ = l.stop() // a library that lost its service may refuse
	return l.start()
}

// close ends the use of a library by one key.
func (l *library) close() error {
	libraries.Lock()
	defer libraries.Unlock()
	if l.keys--; l.keys > 0 {
		return nil
	}
	delete(libraries.open, l.path)
	err := l.stop()
	l.ctx.Destroy()
	return err
}

// slot returns the slot of the one token that a URI names.
func (l *library) slot(u *URI) (uint, error) {
	slots, err := l.ctx.GetSlotList(true)
	if err != nil {
		return 0, unavailable("%s lists no tokens: %v", l.path, err)
	}
	var found, others []string
	var slot uint
	for _, s := range slots {
		info, err := l.ctx.GetTokenInfo(s)
		if err != nil || info.Flags&p11.CKF_TOKEN_INITIALIZED == 0 {
			continue
		}
		matches := true
		for _, pair := range [][2]string{{u.Token, info.Label}, {u.Manufacturer, info.ManufacturerID}, {u.Model, info.Model}, {u.Serial, info.SerialNumber}} {
			matches = matches && (pair[0] == "" || pair[0] == pair[1])
		}
		if matches {
			found, slot = append(found, info.Label), s
		} else {
			others = append(others, info.Label)
		}
	}
	switch len(found) {
	case 0:
		return 0, unavailable("no token matches the URI; those of %s: %s", l.path, cmp.Or(strings.Join(others, ", "), "none"))
	case 1:
		return slot, nil
	}
	return 0, refuse("token", "several match: "+strings.Join(found, ", "), "a URI of one token, for example with its serial")
}
