package accumulator

// Copy gives another accumulator of the same, which may change by itself.
func (ra *ResAccumulator) Copy() *ResAccumulator {
	return &ResAccumulator{resMap: ra.resMap.DeepCopy(), tConfig: ra.tConfig.Clone(), varSet: ra.varSet.Copy()}
}
