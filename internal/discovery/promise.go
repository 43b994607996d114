package discovery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Promise is what the wire offers to hosts, without what is said of it. The baseline of a version is one; all that is in it stays for as
// long as the version is spoken (docs/guarantees.md, "The wire").
type Promise struct {
	RPCVersion    int                      `json:"rpc_version"`
	ErrorCodes    []int                    `json:"error_codes"`
	Capabilities  []string                 `json:"capabilities"`
	Retryable     map[string]bool          `json:"retryable"` // by reason or condition
	Notifications map[string]Shape         `json:"notifications"`
	Methods       map[string]MethodPromise `json:"methods"`
}

// MethodPromise is what a method offers.
type MethodPromise struct {
	Params     Shape            `json:"params"`
	Lenient    bool             `json:"ignores_unknown_params,omitempty"`
	Result     Shape            `json:"result"`
	Conditions []string         `json:"conditions"`
	Events     map[string]Shape `json:"events,omitempty"`
}

// Shape is what an object may hold: by the path of each value, its type. See value for how that is spelled.
type Shape map[string]string

// value is one value of a shape, spelled as its types, then "always" where it is never absent (of a parameter: it is required), then
// what it has to keep to.
type value struct {
	types  []string // none: any
	always bool
	limits map[string]string
}

func (v value) String() string {
	words := []string{"any"}
	if len(v.types) > 0 {
		words[0] = strings.Join(v.types, "|")
	}
	if v.always {
		words = append(words, "always")
	}
	for _, name := range slices.Sorted(maps.Keys(v.limits)) {
		words = append(words, name+"="+v.limits[name])
	}
	return strings.Join(words, " ")
}

func readValue(text string) value {
	v := value{limits: map[string]string{}}
	for i, word := range strings.Fields(text) {
		name, limit, limited := strings.Cut(word, "=")
		switch {
		case limited:
			v.limits[name] = limit
		case i == 0 && word != "any":
			v.types = strings.Split(word, "|")
		case word == "always":
			v.always = true
		}
	}
	return v
}

// PromiseOf takes out of the document what it offers. The version, the capabilities and the codes of errors that belong to no method are
// found by asking.
func (d *Document) PromiseOf(rpcVersion int, capabilities []string, codes []int) Promise {
	p := Promise{
		RPCVersion: rpcVersion, Capabilities: slices.Sorted(slices.Values(capabilities)),
		Retryable: map[string]bool{}, Notifications: map[string]Shape{}, Methods: map[string]MethodPromise{},
	}
	for word, meaning := range d.Reasons {
		p.Retryable[word] = meaning.Retryable
	}
	for _, n := range d.Notifications {
		p.Notifications[n.Name] = shapeOf(n.Params)
	}
	for _, m := range d.Methods {
		method := MethodPromise{
			Params: shapeOf(m.Params), Lenient: !m.Params.Others.Refused, Result: shapeOf(m.Result.Schema),
			Conditions: slices.Sorted(slices.Values(m.Reasons)),
		}
		for _, event := range m.Events {
			if method.Events == nil {
				method.Events = map[string]Shape{}
			}
			method.Events[event.Name] = shapeOf(event.Schema)
		}
		p.Methods[m.Name] = method
		for _, e := range m.Errors {
			codes = append(codes, e.Code)
		}
	}
	slices.Sort(codes)
	p.ErrorCodes = slices.Compact(codes)
	return p
}

func shapeOf(object *Schema) Shape {
	shape := Shape{}
	for _, f := range fieldsOf(object, all) {
		shape[f.path] = valueOf(f).String()
	}
	return shape
}

func valueOf(f field) value {
	v := value{types: slices.Sorted(slices.Values(f.schema.Type)), always: f.always, limits: map[string]string{}}
	if f.schema.Pattern != "" {
		v.limits["pattern"] = f.schema.Pattern
	}
	if len(f.schema.Enum) > 0 {
		v.limits["words"] = strings.Join(slices.Sorted(slices.Values(f.schema.Enum)), ",")
	}
	for name, bound := range map[string]*int{"shortest": f.schema.MinLength, "longest": f.schema.MaxLength} {
		if bound != nil {
			v.limits[name] = fmt.Sprint(*bound)
		}
	}
	for name, bound := range map[string]*float64{"least": f.schema.Minimum, "most": f.schema.Maximum} {
		if bound != nil {
			v.limits[name] = fmt.Sprint(*bound)
		}
	}
	return v
}

// ErrBroken is that something promised is not kept.
var ErrBroken = errors.New("the wire does not keep what rpc_version promises")

// Grown gives the baseline with what has been added since. It drops nothing: where something is broken it fails.
func Grown(baseline, now Promise) (Promise, error) {
	if broken, _ := Compare(baseline, now); len(broken) > 0 {
		return baseline, fmt.Errorf("%w:\n%s", ErrBroken, strings.Join(broken, "\n"))
	}
	return now, nil
}
