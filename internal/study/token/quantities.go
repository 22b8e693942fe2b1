package token

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/record"
)

// quantity is one thing that the part Panurus measures on every curve, width and
// proof.
type quantity struct {
	workload string
	axes     []record.Axis // beside curve, bits, proof, in, out and exec
	note     string        // what differs from Panurus' workload of the same name
	each     int           // operations that share the time; 0: 1
	tokens   int           // inputs, and outputs; 0: 2, or what axes say; others at 64 bits only
	once     bool          // on one curve, width and proof only
	apart    bool          // Panurus' figure of the name is of another thing
}

func axis(key, value string) record.Axis { return record.Axis{Key: key, Value: value} }

// The axis of owners, and its values.
const ownerKey, otherOwners, pseudonymOwners = "owner", "ed25519", "pseudonym"

const (
	labelOther     = "other owners"
	labelPseudonym = "no anonymous credential"
)

// compared are the measures that stand beside Panurus' figure of the same name.
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

// shapes are the numbers of inputs, and of outputs, beside two, and measured at them what stands
// beside Panurus' figures.
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

// ownedBy is a workload on tokens of such owners.
func ownedBy(workload, owners, label string) quantity {
	return quantity{workload: workload, axes: []record.Axis{axis(ownerKey, owners)}, note: label}
}

func apart(m quantity) quantity {
	m.apart = true
	return m
}

func batchOf(m quantity) quantity {
	m.axes = append(m.axes, axis("batch", strconv.Itoa(batchSize)))
	m.each = batchSize
	return m
}

// verification is a figure of verifying, held against Panurus'
// VerificationSenderProof.
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

// alone are the measures that nothing of Panurus stands beside.
func alone() []quantity {
	var all []quantity
	for _, r := range []struct{ tampered, note string }{
		{"structure", "a request that is cut short"},
		{"spent", "a request whose tokens are spent"},
		{"signature", "a request with another message's signature"},
		{"proof", "a request that all have signed, whose proof does not hold"},
	} {
		all = append(all, quantity{workload: "Reject", axes: []record.Axis{axis("tampered", r.tampered)}, note: r.note, once: true})
	}
	return append(all, quantity{
		workload: "LedgerApply", axes: []record.Axis{axis("batch", strconv.Itoa(applySize))},
		note: "on bbolt, each of 256 together, as long as real ones, with the flush to this machine's disk", each: applySize, once: true,
	})
}

// measures are all of them, each once.
func measures() []quantity {
	all := compared()
	for _, v := range verifications() {
		if v.each > 1 { // the others are compared too
			all = append(all, v.quantity)
		}
	}
	return slices.Concat(all, shapes(), alone())
}

// count is the number of inputs.
func (m *quantity) count() string { return strconv.Itoa(cmp.Or(m.tokens, 2)) }

// titled is a title with what differs from Panurus' workload.
func (m *quantity) titled(title string) string {
	if m.note == "" {
		return title
	}
	return title + ", " + m.note
}

// matches tells whether a record is one of the quantity.
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
