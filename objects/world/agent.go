package world

// AgentPlace returns where the agent is and how its avatar is turned. The
// rotation is the one last reported, so that of an agent that sits is relative
// to the seat; it is the zero value if unknown.
func (w *World) AgentPlace() (Place, Quat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rotation := Quat{}
	if self := w.scene.self(); self != nil && !self.lost {
		rotation = self.rotation
	}
	return w.scene.agentPlace(), rotation
}

// Generation returns the generation of the session that began last; 0 if none
// has.
func (w *World) Generation() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session.generation
}
