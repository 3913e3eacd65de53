package openapi

import (
	"reflect"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// isZero tells whether a schema says nothing. Nearly all have one of these fields, and the comparison of all takes long.
func isZero(schema *spec.Schema) bool {
	if schema.Description != "" || len(schema.Type) > 0 || len(schema.Properties) > 0 || schema.Items != nil ||
		schema.Ref.GetURL() != nil || len(schema.AllOf) > 0 {
		return false
	}
	return reflect.DeepEqual(*schema, spec.Schema{})
}
