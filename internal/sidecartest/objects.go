package sidecartest

import "iter"

// Objects are all objects in a JSON value that was decoded, at any depth.
func Objects(value any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) { eachObject(value, yield) }
}

func eachObject(value any, yield func(map[string]any) bool) bool {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if !eachObject(element, yield) {
				return false
			}
		}
	case map[string]any:
		if !yield(v) {
			return false
		}
		for _, element := range v {
			if !eachObject(element, yield) {
				return false
			}
		}
	}
	return true
}
