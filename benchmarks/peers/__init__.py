"""One file of events through several engines, each in a process of its own."""
