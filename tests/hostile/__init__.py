"""Inputs that somebody wrote to break in, to stop a process or to be misread, each with a stated outcome."""
