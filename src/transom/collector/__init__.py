"""The collector: a process of its own that acquires rows and writes logs, which queries read."""
