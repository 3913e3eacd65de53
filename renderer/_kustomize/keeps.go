package merge2

// Keeps tells that what only the destination has stays (_kustomize/keep.go).
func (m Merger) Keeps() bool { return true }
