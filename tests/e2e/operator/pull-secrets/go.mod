module github.com/google/go-containerregistry/pkg/authn/kubernetes

go 1.26.0
