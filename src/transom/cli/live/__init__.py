"""The commands for queries that run: `run` one, `serve` all of a project, and the `status` of a served one."""
