package zkbench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/policy"
)

// showUpdate prints what an update changes, who can still sign it, and whether it can be applied.
func showUpdate(w io.Writer, g *governed, u *policy.Update) error {
	before, err := newPolicyView(g.current)
	if err != nil {
		return err
	}
	after, err := newPolicyView(&u.Policy)
	if err != nil {
		return err
	}
	digest, err := u.ShortDigest()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "ledger %x: policy %d to %d\n", u.Ledger, before.Version, after.Version)
	changes := changesOf(&before, &after)
	if len(changes) == 0 {
		changes = []string{"nothing but the version"}
	}
	for _, line := range changes {
		fmt.Fprintf(w, "  %s\n", line)
	}
	fmt.Fprintf(w, "digest %s\n", digest)
	for _, p := range []*token.Policy{g.current, &u.Policy} {
		who, more := u.Missing(&p.Administrators)
		fmt.Fprintf(w, "signatures of policy %d: %d of the %d that it needs", p.Version, max(0, p.Administrators.Threshold-more), p.Administrators.Threshold)
		if more > 0 {
			fmt.Fprintf(w, "; %d more of: %s", more, strings.Join(oneLine(lines(identityViews(who), short)), ", "))
		}
		fmt.Fprintln(w)
	}
	if err := u.Verify(g.id, g.current); err != nil {
		_, err = fmt.Fprintf(w, "cannot be applied yet: %v\n", err)
		return err
	}
	_, err = fmt.Fprintln(w, "ok: complete")
	return err
}

// changesOf describes the differences of two policies.
func changesOf(before, after *policyView) (changes []string) {
	say := func(what string, from, to any) {
		if a, b := fmt.Sprint(from), fmt.Sprint(to); a != b {
			changes = append(changes, fmt.Sprintf("%s: %s, before %s", what, b, a))
		}
	}
	old, now := before.lists(whole), after.lists(whole)
	for i := range now {
		was, is := oneLine(old[i].lines), oneLine(now[i].lines)
		for _, line := range is {
			if !slices.Contains(was, line) {
				changes = append(changes, "new "+now[i].role+": "+line)
			}
		}
		for _, line := range was {
			if !slices.Contains(is, line) {
				changes = append(changes, "no longer "+now[i].role+": "+line)
			}
		}
	}
	say("threshold of administrators", before.Threshold, after.Threshold)
	say("validators who must sign a head", before.HeadThreshold, after.HeadThreshold)
	say("owners", strings.Join(before.Owners, ", "), strings.Join(after.Owners, ", "))
	say("redeem", before.Redeem, after.Redeem)
	say("notes", before.Notes, after.Notes)
	say("inputs up to", before.Limits.Inputs, after.Limits.Inputs)
	say("outputs up to", before.Limits.Outputs, after.Limits.Outputs)
	say("bytes of metadata up to", before.Limits.Metadata, after.Limits.Metadata)
	say("ahead of the clock up to", before.Limits.ahead(), after.Limits.ahead())
	return changes
}

// oneLine replaces the tabs between the columns of each line by spaces.
func oneLine(columns []string) []string {
	all := make([]string, len(columns))
	for i, line := range columns {
		all[i] = strings.ReplaceAll(line, "\t", " ")
	}
	return all
}
