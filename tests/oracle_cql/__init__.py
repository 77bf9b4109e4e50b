"""An independent oracle for CQL with windows in space: random questions, answered from the definitions in numpy."""
