package record_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestFields: the reference names the fields of a record, each once, in their order.
func TestFields(t *testing.T) {
	var want, got []string
	for field := range reflect.TypeFor[record.Record]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		want = append(want, name)
	}
	for _, f := range record.Fields() {
		got = append(got, f.Name)
	}
	golden.Equal(t, "fields", want, got)
}

// TestReferenceIsSorted: findings are looked up by their names.
func TestReferenceIsSorted(t *testing.T) {
	if !slices.IsSortedFunc(record.FindingNames(), func(a, b record.Term) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("findings are not sorted by name")
	}
	for _, all := range [][]record.Term{record.Fields(), record.Counters(), record.Owners(), record.FindingNames()} {
		seen := make(map[string]bool)
		for _, term := range all {
			if term.Meaning == "" || seen[term.Name] {
				t.Errorf("%q has no meaning or is listed twice", term.Name)
			}
			seen[term.Name] = true
		}
	}
}
