"""How the embedded model learned to think: tasks, their checks, and general examples."""
