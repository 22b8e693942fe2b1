// Package workload is the one definition of a workload: its name, its axes, its
// seeded inputs, the timed operation and the check of its result. Package measure
// runs it under go test and in the command.
//
// It knows nothing of what is measured, nor how; the definitions stand in its
// sub-packages.
package workload

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
)

// Def is a workload.
type Def struct {
	Name  string // as in Benchmark<Name>, for example TransferProofGeneration
	Alias string // a short name for mixes, for example transfer; most have none
	Doc   string // one sentence: what one operation does
	Axes  []Axis // in the order of the case's name

	// Resolve, where set, returns the cases that one of the axes' values stands for, where some of
	// these are Own or All: what others make of them. It drops an axis whose value they decide.
	// The error is a *argument.ValueError that names what does not go together.
	Resolve func(c Case) ([]Case, error)

	// Stages, where set, goes through the case's stages one after the other, each as long
	// as it takes, and tells the recorder of each with what it made. It is measured once a
	// process.
	Stages func(ctx context.Context, c Case, seed uint64, r *stage.Recorder) (Staged, error)

	// Spec, where set, is what a child process makes the workload of: it is none of the program's
	// own. File is where it was read, as the user named it.
	Spec json.RawMessage
	File string

	// Memory, where set, estimates what a case takes. Workloads have it of whose axes one lets memory grow; what does
	// not fit is refused before New; a workload without refuses it in New, as the STARKs' do.
	Memory func(c Case) (Memory, error)

	// SetUp is what New may take beyond the minutes that every case has.
	SetUp time.Duration

	// SRS, where set, tells which cases have a KZG reference string, and may take it from a
	// file (WithSRS).
	SRS func(c Case) bool

	// Properties, where set, are those of the case's proof system.
	Properties func(c Case) record.Properties

	// Guests, where set, is the package that makes the folder of guests which the program has beside it
	// (guests.Folder), where it is built of a tree that goes away.
	Guests string

	// New does the set-up of one case, untimed: parameters, tables, keys. The
	// inputs that the instance builds depend on the case, the seed and their
	// sequence number only.
	New func(ctx context.Context, c Case, seed uint64) (Instance, error)
}

// Staged is what a run through the stages gives beside their times.
type Staged struct {
	Metrics  []record.Metric
	Findings []record.Finding
}

// Instance is one case, set up. All its methods but Close are safe for
// concurrent use.
type Instance interface {
	// Input builds the input of sequence number seq.
	Input(ctx context.Context, seq uint64) (any, error)
	// Run is the timed operation. It leaves input unchanged: inputs are used
	// again. Its output is what is checked later, and may be empty.
	Run(ctx context.Context, input any) (output []byte, err error)
	// Check tells whether output is a right result of Run for input. Untimed. It
	// keeps neither.
	Check(ctx context.Context, input any, output []byte) error
	// Metrics returns the exact figures of the case, sizes above all. The unit
	// is that of a Go benchmark metric, for example B/proof.
	Metrics(ctx context.Context) ([]record.Metric, error)
	// Close frees what New took. It is called once, after all else.
	Close() error
}

// Random is the stream that the input of a sequence number may be drawn from. It is for
// measuring only: whoever knows the seed knows all of it.
func Random(seed, seq uint64) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], seq)
	return rand.NewChaCha8(key)
}

// Secret is implemented by instances whose operation has a witness, for the
// timing leak test.
type Secret interface {
	// SecretInput builds an input whose witness is the same for all sequence
	// numbers if fixed is set, and drawn by sequence number if not. All else that
	// the input consists of has the same distribution, and its objects are built
	// anew, in both cases.
	SecretInput(ctx context.Context, seq uint64, fixed bool) (any, error)
}

// Collective is implemented by instances whose operations share work: one that runs
// alone costs something else, so allocations are counted under load only.
type Collective interface{ Collective() }

// Mixed is implemented by instances whose operations are of several classes.
type Mixed interface {
	Classes() []string    // their names
	Class(seq uint64) int // that of an operation's sequence number, an index into Classes
	Turn() int            // operations after which the order of classes begins again
}

// Noted is implemented by instances whose set-up found what a reader of the record must
// know.
type Noted interface{ Findings() []record.Finding }

// Measured is implemented by instances that know of what they ran what this process does not know
// of itself. Their figures take the place of the process' own of the same name.
type Measured interface {
	Measured() ([]record.Metric, []record.Finding)
}

// Resolved returns the cases that one stands for.
func (d Def) Resolved(c Case) ([]Case, error) {
	if d.Resolve == nil {
		return []Case{c}, nil
	}
	return d.Resolve(c)
}

// ID returns the workload's name on the command line, transfer-proof-generation for example.
func (d Def) ID() string { return record.WorkloadID(d.Name) }

// Axis returns the axis of that key, curve for example.
func (d Def) Axis(key string) (Axis, bool) {
	i := slices.IndexFunc(d.Axes, func(a Axis) bool { return a.Key == key })
	if i < 0 {
		return Axis{}, false
	}
	return d.Axes[i], true
}

// Find returns the definition with that command-line id or name. The error
// names the accepted ids.
func Find(defs []Def, id string) (Def, error) {
	for _, d := range defs {
		if d.ID() == id || d.Name == id {
			return d, nil
		}
	}
	return Def{}, &argument.ValueError{Field: "workload", Value: id, Accepted: argument.Among(id, strings.Split(IDs(defs), ", "), "list")}
}

// IDs are the command-line ids of definitions, as a list in a sentence.
func IDs(defs []Def) string {
	ids := make([]string, len(defs))
	for i, d := range defs {
		ids[i] = d.ID()
	}
	return strings.Join(ids, ", ")
}

// Case is one point of a workload's matrix: ordered key=value pairs. It is
// immutable.
type Case struct{ axes record.Axes }

// NewCase returns the case with these coordinates, in this order.
func NewCase(axes ...record.Axis) Case { return Case{slices.Clone(axes)} }

// Get returns the value of key, the empty string where there is none.
func (c Case) Get(key string) string {
	value, _ := c.axes.Get(key)
	return value
}

// Int returns the value of key as a number. The error is a *argument.ValueError.
func (c Case) Int(key string) (int, error) {
	value, err := strconv.Atoi(c.Get(key))
	if err != nil {
		return 0, &argument.ValueError{Field: key, Value: c.Get(key), Accepted: "a whole number"}
	}
	return value, nil
}

// With returns the case with key set to value: in its place, or at the end.
func (c Case) With(key, value string) Case {
	axes := slices.Clone(c.axes)
	for i := range axes {
		if axes[i].Key == key {
			axes[i].Value = value
			return Case{axes}
		}
	}
	return Case{append(axes, record.Axis{Key: key, Value: value})}
}

// Without returns the case without a key.
func (c Case) Without(key string) Case {
	return Case{slices.DeleteFunc(slices.Clone(c.axes), func(a record.Axis) bool { return a.Key == key })}
}

// Axes returns the coordinates.
func (c Case) Axes() record.Axes { return slices.Clone(c.axes) }

// String is the case's name, curve=BN254/bits=32.
func (c Case) String() string { return c.axes.String() }

// MarshalJSON writes the coordinates as one object, in order.
func (c Case) MarshalJSON() ([]byte, error) { return c.axes.MarshalJSON() }

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Case) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &c.axes) }

// workersKey is the key of WithWorkers.
type workersKey struct{}

// WithWorkers returns a context in which New knows how many operations will be in flight.
func WithWorkers(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, workersKey{}, n)
}

// Workers returns the number that WithWorkers was given, 0 where there is none.
func Workers(ctx context.Context) int {
	n, _ := ctx.Value(workersKey{}).(int)
	return n
}

// srsKey is the key of WithSRS.
type srsKey struct{}

// SRSFile is the .ptau file of a reference string.
type SRSFile struct {
	Path string // empty: there is none
	Hash string // that the ceremony has published; empty: none is known
}

// WithSRS returns a context in which New and Stages of a Def with SRS take the reference
// string from a file.
func WithSRS(ctx context.Context, file SRSFile) context.Context {
	return context.WithValue(ctx, srsKey{}, file)
}

// SRS returns the file that WithSRS was given.
func SRS(ctx context.Context) SRSFile {
	file, _ := ctx.Value(srsKey{}).(SRSFile)
	return file
}
