package circuits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/workload"
)

// The proof systems.
const (
	systemPlonk   = "plonk"
	systemGroth16 = "groth16"
	systemTurbo   = "turbo"
	systemUltra   = "ultra"
)

// offers lists the systems that a circuit can be proved with. Each circuit is one workload: the axis
// system names the arithmetization, and the axis impl the implementation. The default is gnark's
// implementation if it has the system.
type offers []offer

// offer is a proof system, its implementation, and the forms that the circuit has there.
type offer struct {
	system, impl string
	forms        []string
	matrix       int // the number of forms, from the first, that are the default

	more      func(form string) bool // accepts further forms; nil if there are none
	moreForms string                 // describes them in words
}

// has reports whether the circuit has a form.
func (o *offer) has(form string) bool {
	return slices.Contains(o.forms, form) || o.more != nil && o.more(form)
}

// accepted describes the forms in words.
func (o *offer) accepted() string {
	words := strings.Join(o.forms, ", ")
	if o.more != nil {
		words += ", " + o.moreForms
	}
	return words
}

// onGnark returns the offers of gnark's two systems, with the same forms.
func onGnark(matrix int, forms ...string) offers {
	return offers{{system: systemPlonk, impl: implGnark, forms: forms, matrix: matrix}, {system: systemGroth16, impl: implGnark, forms: forms, matrix: matrix}}
}

// withOurs returns these offers and one of a system of our own.
func (o offers) withOurs(system string, forms ...string) offers {
	return append(o, offer{system: system, impl: implOurs, forms: forms, matrix: min(1, len(forms))})
}

// implOf returns the implementation of the proof system that a case uses.
func implOf(c workload.Case) string {
	switch impl := c.Get("impl"); {
	case impl != "":
		return impl
	case c.Get("system") == systemTurbo || c.Get("system") == systemUltra:
		return implOurs
	}
	return implGnark
}

func distinct(values []string) (all []string) {
	for _, v := range values {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// each returns the distinct values that values returns for the offers.
func (o offers) each(values func(offer) []string) []string {
	var all []string
	for _, one := range o {
		all = append(all, values(one)...)
	}
	return distinct(all)
}

// axes returns the axis system and, if there is a choice, the axis impl.
func (o offers) axes() []workload.Axis {
	systems := o.each(func(o offer) []string { return []string{o.system} })
	axes := []workload.Axis{workload.NameAxis(workload.Axis{Name: "proof system", Key: "system", Flag: "system", Usage: "proof systems"}, systems, systems[:1])}
	if impls := o.each(func(o offer) []string { return []string{o.impl} }); len(impls) > 1 {
		axes = append(axes, workload.NameAxis(workload.Axis{Name: "implementation", Key: "impl", Flag: "impl", Usage: "implementations of the proof system"}, impls, nil).
			Dependent("gnark; zkbench for turbo and ultra"))
	}
	return axes
}

// form returns the axis of forms.
func (o offers) form() workload.Axis {
	var words []string
	for _, of := range o {
		if of.system != systemGroth16 { // it has the same forms as plonk
			words = append(words, fmt.Sprintf("%s (%s): %s", of.system, of.impl, strings.Join(of.forms[:of.matrix], ", ")))
		}
	}
	forms := o.each(func(o offer) []string { return o.forms })
	axis := workload.NameAxis(workload.Axis{Name: "form", Usage: "forms (variants) of the circuit"}, forms, nil)
	for i := range o {
		if o[i].more != nil {
			axis = axis.WithMore(o[i].more, o[i].moreForms)
		}
	}
	return axis.Dependent(strings.Join(words, "; "))
}

// resolve implements workload.Def.Resolve.
func (o offers) resolve(c workload.Case) ([]workload.Case, error) {
	if impl := c.Get("impl"); impl == workload.Own || impl == workload.All {
		c = c.Without("impl")
	}
	system, impl := c.Get("system"), implOf(c)
	if impl == implOf(c.Without("impl")) {
		c = c.Without("impl")
	}
	var accepted []string
	for _, of := range o {
		if of.system == system && of.impl == impl {
			return of.casesOf(c)
		}
		if of.impl == impl {
			accepted = append(accepted, of.system)
		}
	}
	return nil, &argument.ValueError{Field: "system", Value: system, Accepted: fmt.Sprintf("%s with --impl %s", strings.Join(accepted, ", "), impl)}
}

// casesOf returns the cases for the forms that c asks for.
func (o *offer) casesOf(c workload.Case) (cases []workload.Case, err error) {
	forms := []string{c.Get("form")}
	switch form := forms[0]; {
	case form == workload.All:
		forms = o.forms[:o.matrix]
	case form == workload.Own:
		forms = o.forms[:1]
	case o.forms == nil:
		return []workload.Case{c}, nil
	case !o.has(form):
		return nil, &argument.ValueError{Field: "form", Value: form, Accepted: fmt.Sprintf("%s with --system %s --impl %s", o.accepted(), o.system, o.impl)}
	}
	for _, form := range forms {
		cases = append(cases, c.With("form", form))
	}
	return cases, nil
}
