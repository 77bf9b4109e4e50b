"""Plans and faults: every plan is run through every fault, and its rows are compared with a run without the fault."""
