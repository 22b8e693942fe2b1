// Package workload says what a workload is: a name, axes (its parameters), seeded
// inputs, a timed operation and a check of the operation's result. Package measure
// runs workloads under go test and in the command.
//
// This package knows neither the proof systems nor how time is measured. The
// workloads themselves are defined in its sub-packages.
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

// A Def defines a workload: one operation that can be measured, and the axes
// that are its parameters.
type Def struct {
	Name  string // as in Benchmark<Name>, for example TransferProofGeneration
	Alias string // a short name for mixes, for example transfer; most have none
	Noun  string // one operation as the subject of a sentence, for example "a transfer"; empty: "one operation of" and the name
	Doc   string // what one operation does, in one phrase; the command "zkbench list" prints it
	Axes  []Axis // in the order of a case's name

	// Resolve, if set, checks that the values of a case go together, and replaces the
	// values Own and All. It returns the resulting cases; All can stand for several. It
	// removes an axis whose value is the default or follows from the other axes. If values
	// do not go together, it returns an *argument.ValueError that names them.
	Resolve func(c Case) ([]Case, error)

	// Stages, if set, runs the case's stages once, one after the other, each for as long as it
	// takes. It records every stage with r, together with figures of the stage's results. A
	// process calls Stages once.
	Stages func(ctx context.Context, c Case, seed uint64, r *stage.Recorder) (Staged, error)

	// Spec, if set, describes a workload that is not built into the program: a child process
	// makes the workload from it. File is the file from which Spec was read, as the user named
	// it.
	Spec json.RawMessage
	File string

	// Memory, if set, estimates the memory that a case takes. A case that does not fit is then
	// refused before New is called. A workload with an axis that makes memory grow sets
	// Memory, unless New refuses the cases that do not fit, as in package stark.
	Memory func(c Case) (Memory, error)

	// SetUp is the time that New may take beyond the minutes that every case has.
	SetUp time.Duration

	// SRS, if set, reports whether a case uses a KZG reference string, which New and Stages
	// can read from a file (WithSRS).
	SRS func(c Case) bool

	// Properties, if set, returns the properties of the case's proof system.
	Properties func(c Case) record.Properties

	// Guests, if set, is the package of a command that builds the guests into the folder
	// beside the program (guestprogram.Folder). It is run for a program that is built from
	// a source tree that does not stay.
	Guests string

	// New sets up one case: parameters, tables, keys. It is not timed. The inputs that the
	// instance builds depend only on the case, the seed and their sequence numbers.
	New func(ctx context.Context, c Case, seed uint64) (Instance, error)
}

// Staged holds the metrics and findings that Def.Stages returns. The times of the
// stages are in the stage.Recorder.
type Staged struct {
	Metrics  []record.Metric
	Findings []record.Finding
}

// An Instance is one case that has been set up. All methods except Close are safe
// for concurrent use.
type Instance interface {
	// Input builds the input with sequence number seq.
	Input(ctx context.Context, seq uint64) (any, error)
	// Run performs the timed operation. It does not modify input, because inputs are
	// used again. Its output is checked later, and may be empty.
	Run(ctx context.Context, input any) (output []byte, err error)
	// Check returns an error if output is not a correct result of Run for input. It is
	// not timed. It must not retain input or output.
	Check(ctx context.Context, input any, output []byte) error
	// Metrics returns the exact figures of the case, mainly sizes. Units are those of Go
	// benchmark metrics, for example B/proof.
	Metrics(ctx context.Context) ([]record.Metric, error)
	// Close releases what New allocated. It is called once, after all other methods.
	Close() error
}

// Random returns the random stream from which an Instance can draw the input with
// sequence number seq. Use it for measuring only: anyone who knows the seed knows the
// whole stream.
func Random(seed, seq uint64) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], seq)
	return rand.NewChaCha8(key)
}

// Secret is implemented by instances whose operation has a witness. The timing leak
// test uses it.
type Secret interface {
	// SecretInput builds an input. If fixed is set, the input's witness is the same for all
	// sequence numbers; otherwise the witness is drawn by sequence number. In both cases all
	// other parts of the input have the same distribution, and all objects are new.
	SecretInput(ctx context.Context, seq uint64, fixed bool) (any, error)
}

// Collective is implemented by instances whose concurrent operations share work. An
// operation that runs alone has another cost, so allocations are counted only under load.
type Collective interface{ Collective() }

// Mixed is implemented by instances that run operations of several classes.
type Mixed interface {
	Classes() []string    // the names of the classes
	Class(seq uint64) int // the class of operation seq, as an index into Classes
	Turn() int            // the number of operations after which the order of classes repeats
}

// Noted is implemented by instances whose set-up makes findings that a reader of the
// record needs to know.
type Noted interface{ Findings() []record.Finding }

// Measured is implemented by instances that run operations in other processes, and that
// therefore have figures that this process cannot measure by itself. Their metrics replace the
// process's own metrics of the same name.
type Measured interface {
	Measured() ([]record.Metric, []record.Finding)
	Whose() record.Whose // the processes that run the operations
}

// Resolved returns the cases that the function d.Resolve returns for c, or c itself if
// d.Resolve is nil.
func (d Def) Resolved(c Case) ([]Case, error) {
	if d.Resolve == nil {
		return []Case{c}, nil
	}
	return d.Resolve(c)
}

// ID returns the workload's name on the command line, for example transfer-proof-generation.
func (d Def) ID() string { return record.WorkloadID(d.Name) }

// Axis returns the axis with the given key, for example curve, or false if there is none.
func (d Def) Axis(key string) (Axis, bool) {
	i := slices.IndexFunc(d.Axes, func(a Axis) bool { return a.Key == key })
	if i < 0 {
		return Axis{}, false
	}
	return d.Axes[i], true
}

// Find returns the definition with the given command-line id or name. If there is none,
// it returns an *argument.ValueError that names accepted ids.
func Find(defs []Def, id string) (Def, error) {
	for _, d := range defs {
		if strings.EqualFold(d.ID(), id) || strings.EqualFold(d.Name, id) {
			return d, nil
		}
	}
	return Def{}, argument.Unknown("workload", id, strings.Split(IDs(defs), ", "), "list")
}

// IDs returns the command-line ids of defs, separated by commas.
func IDs(defs []Def) string {
	ids := make([]string, len(defs))
	for i, d := range defs {
		ids[i] = d.ID()
	}
	return strings.Join(ids, ", ")
}

// A Case is one combination of values for a workload's axes: ordered key=value pairs.
// It is immutable.
type Case struct{ axes record.Axes }

// NewCase returns the case with these key=value pairs, in this order.
func NewCase(axes ...record.Axis) Case { return Case{slices.Clone(axes)} }

// Get returns the value of key, or the empty string if the case has no such key.
func (c Case) Get(key string) string {
	value, _ := c.axes.Get(key)
	return value
}

// Int returns the value of key as a number. It returns an *argument.ValueError if the
// value is not a whole number.
func (c Case) Int(key string) (int, error) {
	value, err := strconv.Atoi(c.Get(key))
	if err != nil {
		return 0, &argument.ValueError{Field: key, Value: c.Get(key), Accepted: "a whole number"}
	}
	return value, nil
}

// With returns a copy of the case with key set to value. A new key is added at the end.
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

// Without returns a copy of the case without key.
func (c Case) Without(key string) Case {
	return Case{slices.DeleteFunc(slices.Clone(c.axes), func(a record.Axis) bool { return a.Key == key })}
}

// Axes returns a copy of the key=value pairs.
func (c Case) Axes() record.Axes { return slices.Clone(c.axes) }

// String returns the case's name, for example curve=BN254/bits=32.
func (c Case) String() string { return c.axes.String() }

// MarshalJSON encodes the key=value pairs as one JSON object, in order.
func (c Case) MarshalJSON() ([]byte, error) { return c.axes.MarshalJSON() }

// UnmarshalJSON decodes what MarshalJSON encodes.
func (c *Case) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &c.axes) }

// workersKey is the context key of WithWorkers.
type workersKey struct{}

// WithWorkers returns a context that tells Def.New how many operations will be in flight.
func WithWorkers(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, workersKey{}, n)
}

// Workers returns the number that WithWorkers has put into ctx, or 0 if there is none.
func Workers(ctx context.Context) int {
	n, _ := ctx.Value(workersKey{}).(int)
	return n
}

// srsKey is the context key of WithSRS.
type srsKey struct{}

// SRSFile names the .ptau file of a reference string.
type SRSFile struct {
	Path string // empty if there is no file
	Hash string // the hash that the ceremony has published; empty if none is known
}

// WithSRS returns a context in which Def.New and Def.Stages read the reference string
// from file, if the Def has a function SRS.
func WithSRS(ctx context.Context, file SRSFile) context.Context {
	return context.WithValue(ctx, srsKey{}, file)
}

// SRS returns the file that WithSRS has put into ctx, or a zero SRSFile if there is none.
func SRS(ctx context.Context) SRSFile {
	file, _ := ctx.Value(srsKey{}).(SRSFile)
	return file
}
