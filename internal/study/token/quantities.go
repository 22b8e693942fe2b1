package token

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/record"
)

// quantity is something that the part Panurus measures on every curve, width and proof.
type quantity struct {
	workload string
	axes     []record.Axis // in addition to curve, bits, proof, in, out and exec
	note     string        // how it differs from Panurus' workload of the same name
	each     int           // number of operations that share the time; 0: 1
	tokens   int           // inputs, and outputs; 0: 2, or as axes say. If it is not 0, only 64 bits are measured
	once     bool          // on one curve, width and proof only
	apart    bool          // not comparable with Panurus' figure of the same name
}

func axis(key, value string) record.Axis { return record.Axis{Key: key, Value: value} }

// Key and values of the axis of owners.
const ownerKey, otherOwners, pseudonymOwners = "owner", "ed25519", "pseudonym"

const (
	labelOther     = "other owners"
	labelPseudonym = "no anonymous credential"
)

// compared returns the quantities that are shown beside Panurus' workload of the same name.
func compared() []quantity {
	return []quantity{
		{workload: "TransferProofGeneration"},
		{workload: "Sender"},
		{workload: "VerificationSenderProof"},
		{workload: "Issuer"},
		{workload: "ProofVerificationIssuer"},
		apart(ownedBy("ValidatorTransfer", otherOwners, labelOther)),
		ownedBy("ValidatorTransfer", pseudonymOwners, labelPseudonym),
		apart(ownedBy("TransferServiceTransfer", otherOwners, labelOther)),
		ownedBy("TransferServiceTransfer", pseudonymOwners, labelPseudonym),
		{workload: "IssueServiceIssue", axes: []record.Axis{axis("out", "1"), axis(ownerKey, otherOwners)}, note: labelOther},
		ownedBy("AuditorServiceCheck", otherOwners, labelOther),
	}
}

// shapes returns the quantities with other numbers of inputs and outputs than two.
func shapes() (all []quantity) {
	for _, n := range []int{1, 4, 8} {
		for _, m := range []quantity{
			{workload: "Sender"}, {workload: "VerificationSenderProof"}, ownedBy("ValidatorTransfer", pseudonymOwners, labelPseudonym),
		} {
			m.tokens = n
			all = append(all, m)
		}
	}
	return all
}

// ownedBy returns the quantity of a workload on tokens with this kind of owners.
func ownedBy(workload, owners, label string) quantity {
	return quantity{workload: workload, axes: []record.Axis{axis(ownerKey, owners)}, note: label}
}

// apart returns m, marked as not comparable with Panurus' figure.
func apart(m quantity) quantity {
	m.apart = true
	return m
}

// batchOf returns m for batches of batchSize.
func batchOf(m quantity) quantity {
	m.axes = append(m.axes, axis("batch", strconv.Itoa(batchSize)))
	m.each = batchSize
	return m
}

// verification is a quantity that is compared with Panurus' VerificationSenderProof.
type verification struct {
	quantity
	title string
}

func verifications() []verification {
	return []verification{
		{quantity{workload: "VerificationSenderProof"}, "proof only"},
		{ownedBy("ValidatorTransfer", otherOwners, labelOther), "validator, " + labelOther},
		{ownedBy("ValidatorTransfer", pseudonymOwners, labelPseudonym), "validator, " + labelPseudonym},
		{batchOf(quantity{workload: "VerificationSenderBatch"}), "64 proofs, each"},
		{batchOf(ownedBy("ValidatorBatch", otherOwners, labelOther)), "64 requests, " + labelOther + ", each"},
		{batchOf(ownedBy("ValidatorBatch", pseudonymOwners, labelPseudonym)), "64 requests, " + labelPseudonym + ", each"},
	}
}

// alone returns the quantities for which Panurus has no workload.
func alone() []quantity {
	var all []quantity
	for _, r := range []struct{ tampered, note string }{
		{"structure", "a request that is cut short"},
		{"spent", "a request whose tokens are spent"},
		{"signature", "a request with the signature of another message"},
		{"proof", "a request with all signatures and an invalid proof"},
	} {
		all = append(all, quantity{workload: "Reject", axes: []record.Axis{axis("tampered", r.tampered)}, note: r.note, once: true})
	}
	return append(all, quantity{
		workload: "LedgerApply", axes: []record.Axis{axis("batch", strconv.Itoa(applySize))},
		note: "one of 256 requests of realistic length that are applied together, on bbolt, with the flush to this machine's disk", each: applySize, once: true,
	})
}

// measures returns all quantities, each once.
func measures() []quantity {
	all := compared()
	for _, v := range verifications() {
		if v.each > 1 { // the others are compared too
			all = append(all, v.quantity)
		}
	}
	return slices.Concat(all, shapes(), alone())
}

// count returns the number of inputs.
func (m *quantity) count() string { return strconv.Itoa(cmp.Or(m.tokens, 2)) }

// titled returns a title, followed by the note.
func (m *quantity) titled(title string) string {
	if m.note == "" {
		return title
	}
	return title + ", " + m.note
}

// matches reports whether a record belongs to the quantity.
func (m *quantity) matches(r *record.Record) bool {
	if in, ok := r.Axes.Get("in"); r.Workload != m.workload || ok && in != m.count() {
		return false
	}
	for _, a := range m.axes {
		if value, ok := r.Axes.Get(a.Key); !ok || value != a.Value {
			return false
		}
	}
	return true
}
