package main

import (
	"fmt"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
)

// kept names the fields of a message that are kept, each with those of its own message; nil keeps it whole.
type kept map[protoreflect.Name]kept

// used is what kustomize looks at in Kubernetes' schema (kyaml/openapi, AddDefinitions and
// findNamespaceability). Three quarters of the schema are operations, parameters and responses, and reading
// those took more than half of the time of an instance's first merge.
var used = kept{
	"swagger":     nil,
	"info":        nil,
	"definitions": nil,
	"paths":       {"path": {"name": nil, "value": {"get": {"vendor_extension": nil}}}},
}

func init() {
	document := (&openapi_v2.Document{}).ProtoReflect().Descriptor()
	for version, whole := range kubernetesapi.OpenAPIMustAsset {
		kubernetesapi.OpenAPIMustAsset[version] = func(name string) []byte {
			asset := whole(name)
			if short, err := used.of(document, asset); err == nil {
				return short
			}
			// Reading it says what is wrong with it.
			return asset
		}
	}
}

// of gives an encoded message without what is not kept.
func (fields kept) of(message protoreflect.MessageDescriptor, encoded []byte) ([]byte, error) {
	var short []byte
	for len(encoded) > 0 {
		number, kind, start := protowire.ConsumeTag(encoded)
		if start < 0 {
			return nil, protowire.ParseError(start)
		}
		length := protowire.ConsumeFieldValue(number, kind, encoded[start:])
		if length < 0 {
			return nil, protowire.ParseError(length)
		}
		field := encoded[:start+length]
		encoded = encoded[start+length:]
		descriptor := message.Fields().ByNumber(number)
		if descriptor == nil {
			return nil, fmt.Errorf("%s has no field %d", message.FullName(), number)
		}
		inner, found := fields[descriptor.Name()]
		if !found {
			continue
		}
		if inner == nil {
			short = append(short, field...)
			continue
		}
		value, _ := protowire.ConsumeBytes(field[start:])
		value, err := inner.of(descriptor.Message(), value)
		if err != nil {
			return nil, err
		}
		short = protowire.AppendBytes(protowire.AppendTag(short, number, kind), value)
	}
	return short, nil
}
