"""What can go wrong because of a choice, a file or a machine. No torch, no gradio.

    UserError
    ├── ModelError        a model that cannot be loaded, or not decoded exactly
    │   └── MemoryShort   it would not fit on the chosen device
    ├── PromptError       a prompt that cannot be turned into tokens
    └── RecordingError    a file that is not a whole recording of this version

The message of each is one sentence that says what is wrong and what to do about it,
safe to show to a visitor: no traceback, nothing about the machine but what the
visitor named. Anything else that is raised is a bug.
"""

from __future__ import annotations


class UserError(Exception):
    """Something the user can put right; `str(error)` says what and how."""


class ModelError(UserError):
    """The model cannot be had, or this engine cannot decode it exactly."""


class MemoryShort(ModelError):  # noqa: N818  (reads as a sentence where it is caught)
    """The model needs more memory than the device has free."""


class PromptError(UserError):
    """The prompt cannot be turned into tokens for this model."""


class RecordingError(UserError):
    """The file is not a recording, not a whole one, or one of another version."""
