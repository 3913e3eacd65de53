package main

import (
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
)

// init leaves the paths out of Kubernetes' schema. They are three quarters of it, and reading them took half
// of the time of an instance's first merge. All that kustomize takes from them is which kinds have
// namespaces (kyaml/openapi, findNamespaceability), and it knows that of each of them before it reads them
// (precomputedIsNamespaceScoped, which its own tests hold against them).
func init() {
	document := (&openapi_v2.Document{}).ProtoReflect().Descriptor()
	paths := document.Fields().ByName("paths").Number()
	for version, whole := range kubernetesapi.OpenAPIMustAsset {
		kubernetesapi.OpenAPIMustAsset[version] = func(name string) []byte { return without(paths, whole(name)) }
	}
}

// without gives an encoded message without one of its fields.
func without(left protowire.Number, encoded []byte) []byte {
	short := make([]byte, 0, len(encoded)/2)
	for len(encoded) > 0 {
		number, _, length := protowire.ConsumeField(encoded)
		if length < 0 {
			// Whoever reads it says what is wrong with it.
			return append(short, encoded...)
		}
		if number != left {
			short = append(short, encoded[:length]...)
		}
		encoded = encoded[length:]
	}
	return short
}
