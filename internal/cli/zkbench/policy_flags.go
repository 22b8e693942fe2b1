package zkbench

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// listFlags are the flags that change a list: they replace it, add to it or remove from it.
type listFlags struct {
	whole, add, remove *argument.Option // add and remove are nil if there is no list yet
}

var acceptedAhead = fmt.Sprintf("%v to %v, in whole seconds", time.Second, token.MaxAhead)

// given reports whether one of the flags was given.
func (f *listFlags) given() bool {
	return f.whole.Given || f.add != nil && (f.add.Given || f.remove.Given)
}

// policyFlags are the flags that change a policy, as they were typed.
type policyFlags struct {
	issuers, auditors, administrators, validators listFlags
	threshold, headThreshold                      *argument.Option
	owners, redeem, notes                         *argument.Option
	maxInputs, maxOutputs, maxMetadata, maxAhead  *argument.Option
}

// newPolicyFlags defines the flags. Flags that are not given change nothing. The help shows the
// values of base as defaults; if base is nil, the flags change an existing policy, and also add to
// and remove from its lists.
func newPolicyFlags(flags *pflag.FlagSet, base *token.Policy) *policyFlags {
	define := func(name, kind, text, accepted, help string) *argument.Option {
		return argument.Define(flags, name, kind, text, accepted, help+": "+accepted)
	}
	list := func(name, accepted, help string) listFlags {
		l := listFlags{whole: define(name, argument.KindList, "", accepted, help)}
		if base == nil {
			l.add = define("add-"+name, argument.KindList, "", accepted, "add these "+name+"s")
			l.remove = define("remove-"+name, argument.KindList, "", acceptedRemoval, "remove these "+name+"s")
		}
		return l
	}
	var shown struct{ owners, redeem, notes, inputs, outputs, metadata, ahead string }
	if base != nil {
		shown.owners, shown.redeem, shown.notes = strings.Join(base.Owners.Names(), ","), base.Redeem.String(), kemName(base.Notes)
		shown.inputs, shown.outputs, shown.metadata = strconv.Itoa(base.Limits.Inputs), strconv.Itoa(base.Limits.Outputs), strconv.Itoa(base.Limits.Metadata)
		shown.ahead = base.Limits.Ahead.String()
	}
	redeem := []string{token.RedeemOwner.String(), token.RedeemIssuer.String()}
	return &policyFlags{
		issuers:        list("issuer", acceptedIssuer, "who may issue"),
		auditors:       list("auditor", acceptedAuditor, "who must sign every request"),
		administrators: list("administrator", acceptedIdentity, "who may change the policy"),
		validators:     list("validator", acceptedValidator, "who signs heads of the log"),
		threshold:      define("threshold", argument.KindNumber, "", fmt.Sprintf("1 to %d, at most the number of administrators", token.MaxIdentities), "how many administrators must sign a change of the policy"),
		headThreshold:  define("head-threshold", argument.KindNumber, "", fmt.Sprintf("1 to %d, at most the number of validators", token.MaxValidators), "how many validators must sign a head (default more than two thirds of them)"),
		owners:         define("owners", argument.KindList, shown.owners, strings.Join(token.OwnerNames(), ", "), "kinds of owners that tokens may have"),
		redeem:         define("redeem", argument.KindText, shown.redeem, strings.Join(redeem, ", "), "whose signatures a redemption needs; with issuer, also an issuer's"),
		notes:          define("notes", argument.KindText, shown.notes, strings.Join(kemNames(), ", "), "key encapsulation for the openings that are encrypted to payees on the ledger"),
		maxInputs:      define("max-inputs", argument.KindNumber, shown.inputs, fmt.Sprintf("1 to %d", token.MaxTokens), "maximum number of inputs of an action"),
		maxOutputs:     define("max-outputs", argument.KindNumber, shown.outputs, fmt.Sprintf("1 to %d", token.MaxTokens), "maximum number of outputs of an action"),
		maxMetadata:    define("max-metadata", argument.KindNumber, shown.metadata, fmt.Sprintf("0 to %d", token.MaxMetadata), "maximum bytes of an action's metadata"),
		maxAhead:       define("max-ahead", argument.KindTime, shown.ahead, acceptedAhead, "how far a block's time may be ahead of the clock of the node that chooses it"),
	}
}

// kemName returns a KEM's name as users type it.
func kemName(k token.KEM) string { return strings.ToLower(k.String()) }

func kemNames() (names []string) {
	for _, k := range token.KEMs() {
		names = append(names, kemName(k))
	}
	return names
}

// change applies the flags that were given to p.
func (f *policyFlags) change(p *token.Policy) (err error) {
	if err := f.limits(&p.Limits); err != nil {
		return err
	}
	switch {
	case !f.redeem.Given:
	case f.redeem.Text == token.RedeemOwner.String():
		p.Redeem = token.RedeemOwner
	case f.redeem.Text == token.RedeemIssuer.String():
		p.Redeem = token.RedeemIssuer
	default:
		return f.redeem.Refuse("redeem", f.redeem.Text)
	}
	if f.notes.Given {
		i := slices.Index(kemNames(), f.notes.Text)
		if i < 0 {
			return f.notes.Refuse("notes", f.notes.Text)
		}
		p.Notes = token.KEMs()[i]
	}
	if f.owners.Given {
		if p.Owners, err = token.ParseOwners(strings.Split(f.owners.Text, ",")...); err != nil {
			return f.owners.Refuse("owners", f.owners.Text)
		}
	}
	if err := f.lists(p); err != nil {
		return err
	}
	if p.Redeem == token.RedeemIssuer && len(p.Issuers) == 0 {
		return (&argument.Option{Accepted: "owner, or issuer together with --issuer"}).Refuse("redeem", p.Redeem.String())
	}
	if f.validators.given() {
		p.HeadThreshold = defaultHeadThreshold(len(p.Validators))
	}
	if err := setThreshold("threshold", f.threshold, "administrator", token.MaxIdentities, len(p.Administrators.Identities), &p.Administrators.Threshold); err != nil {
		return err
	}
	return setThreshold("head-threshold", f.headThreshold, "validator", token.MaxValidators, len(p.Validators), &p.HeadThreshold)
}

// defaultHeadThreshold returns the smallest number that is more than two thirds of the validators.
// If two heads each have that many signatures, more than a third of the validators signed both.
func defaultHeadThreshold(validators int) int {
	if validators == 0 {
		return 0
	}
	return 2*validators/3 + 1
}

// setThreshold sets how many members of a list act together, if the flag was given. A policy has up to most of them. It
// refuses a number that does not fit the list.
func setThreshold(name string, o *argument.Option, member string, most uint64, members int, threshold *int) error {
	if o.Given {
		n, err := o.Number(name, 1, most)
		if err != nil {
			return err
		}
		*threshold = int(n)
	}
	if *threshold > members || members > 0 && *threshold < 1 {
		accepted := fmt.Sprintf("1 to %d, the number of %ss", members, member)
		if members == 0 {
			accepted = "a number together with --" + member
		}
		return (&argument.Option{Accepted: accepted}).Refuse(name, o.Text)
	}
	return nil
}

// lists applies the flags that change lists of identities.
func (f *policyFlags) lists(p *token.Policy) (err error) {
	if p.Issuers, err = changed("issuer", f.issuers, p.Issuers, parseIssuer, issuerIdentity); err != nil {
		return err
	}
	if p.Auditors, err = changed("auditor", f.auditors, p.Auditors, parseAuditor, auditorIdentity); err != nil {
		return err
	}
	admins := &p.Administrators.Identities
	if *admins, err = changed("administrator", f.administrators, *admins, parseIdentity, itself); err != nil {
		return err
	}
	p.Validators, err = changed("validator", f.validators, p.Validators, parseValidator, validatorIdentity)
	return err
}

// changed returns the list before with the flags applied.
func changed[T any](name string, f listFlags, before []T, parse func(text string) (T, error), id func(T) []byte) (all []T, err error) {
	if all = before; f.whole.Given {
		if all, err = listed(name, f.whole, parse, id); err != nil {
			return nil, err
		}
	}
	if f.add == nil {
		return all, nil
	}
	if f.remove.Given {
		for text := range strings.SplitSeq(f.remove.Text, ",") {
			i := slices.IndexFunc(all, func(one T) bool { return named(text, id(one)) })
			if i < 0 {
				return nil, f.remove.Refuse("remove-"+name, text)
			}
			all = slices.Delete(slices.Clone(all), i, i+1)
		}
	}
	if f.add.Given {
		more, err := listed("add-"+name, f.add, parse, id)
		if err != nil {
			return nil, err
		}
		for _, one := range more {
			if slices.ContainsFunc(all, func(other T) bool { return bytes.Equal(id(other), id(one)) }) {
				return nil, (&argument.Option{Accepted: "an identity that is not in the list yet"}).Refuse("add-"+name, f.add.Text)
			}
			all = append(slices.Clone(all), one)
		}
		slices.SortFunc(all, func(a, b T) int { return bytes.Compare(id(a), id(b)) })
	}
	return all, nil
}

// named reports whether a text names an identity: by itself, or by the beginning of its fingerprint
// as it is shown.
func named(text string, id []byte) bool {
	if view := identityViews([][]byte{id})[0]; len(text) >= len(short(view.Fingerprint)) && strings.HasPrefix(view.Fingerprint, text) {
		return true
	}
	other, err := parseIdentity(text)
	return err == nil && bytes.Equal(other, id)
}

func issuerIdentity(i token.Issuer) []byte   { return i.Identity }
func auditorIdentity(a token.Auditor) []byte { return a.Identity }
func itself(id []byte) []byte                { return id }

// validatorIdentity returns a validator's head key in the form of the flags. Its order is that of
// the keys.
func validatorIdentity(v token.Validator) []byte { return ed25519Identity(v.HeadKey[:]) }

func ed25519Identity(key []byte) []byte {
	return append([]byte{byte(identity.TypeEd25519)}, key...)
}

func (f *policyFlags) limits(l *token.Limits) error {
	for _, limit := range []struct {
		name        string
		option      *argument.Option
		least, most uint64
		to          *int
	}{
		{"max-inputs", f.maxInputs, 1, token.MaxTokens, &l.Inputs},
		{"max-outputs", f.maxOutputs, 1, token.MaxTokens, &l.Outputs},
		{"max-metadata", f.maxMetadata, 0, token.MaxMetadata, &l.Metadata},
	} {
		if !limit.option.Given {
			continue
		}
		n, err := limit.option.Number(limit.name, limit.least, limit.most)
		if err != nil {
			return err
		}
		*limit.to = int(n)
	}
	if f.maxAhead.Given {
		ahead, err := f.maxAhead.Duration("max-ahead", time.Second, token.MaxAhead)
		if err != nil {
			return err
		}
		if ahead%time.Second != 0 {
			return f.maxAhead.Refuse("max-ahead", f.maxAhead.Text)
		}
		l.Ahead = ahead
	}
	return nil
}
