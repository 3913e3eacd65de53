package main

import "sigs.k8s.io/kustomize/api/types"

// What kustomize has read is known there (json.go).
func init() {
	toJSON, written = types.ToJSON, types.Written
}
