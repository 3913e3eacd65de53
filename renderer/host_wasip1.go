package main

import "unsafe"

// The host's functions. Each of the first three takes a path, absolute and clean, answers with a
// number, and keeps text of which take gives a copy.

// look answers with the kind of what stands at the path, links followed, and keeps its path
// without links. The kind is in the low byte, the length of the text above it.
//
//go:wasmimport gitops_windows look
func hostLook(path unsafe.Pointer, length uint32) uint64

// read keeps the content of the file and answers with its length.
//
//go:wasmimport gitops_windows read
func hostRead(path unsafe.Pointer, length uint32) uint64

// list keeps the names in the folder, each after a letter for its kind and before a NUL, and
// answers with the length of it all.
//
//go:wasmimport gitops_windows list
func hostList(path unsafe.Pointer, length uint32) uint64

// take copies the kept text to where there is room for it.
//
//go:wasmimport gitops_windows take
func hostTake(room unsafe.Pointer, length uint32)

// hostTree is the snapshot that the host holds.
type hostTree struct{}

// open gives the files of the repository.
func open() tree { return hostTree{} }

func (hostTree) look(path string) (kind, string) {
	answer := hostLook(unsafe.Pointer(unsafe.StringData(path)), uint32(len(path)))
	return kind(answer & 0xff), string(taken(answer >> 8))
}

func (hostTree) read(path string) []byte {
	return taken(hostRead(unsafe.Pointer(unsafe.StringData(path)), uint32(len(path))))
}

func (hostTree) list(path string) []byte {
	return taken(hostList(unsafe.Pointer(unsafe.StringData(path)), uint32(len(path))))
}

func taken(length uint64) []byte {
	room := make([]byte, length)
	if length > 0 {
		hostTake(unsafe.Pointer(unsafe.SliceData(room)), uint32(length))
	}
	return room
}
