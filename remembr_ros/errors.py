"""Every error that the package raises on purpose.

    RemembrError
    ├── StoreUnavailable    the database cannot be reached, opened or written
    ├── StoreMismatch       the collection was made with another embedder or schema
    ├── EmbedderUnavailable the embedding model is not installed or cannot be loaded
    ├── CaptionerFailed     a captioner could not describe a segment
    ├── TranscriberUnavailable  speech recognition is not installed or cannot be loaded
    ├── ChatUnavailable     the language model's server cannot be reached, or refused
    ├── ReplyInvalid        the language model's replies could not be used
    ├── Ungrounded          the answer cites memories that were never recalled
    ├── BudgetExceeded      a deadline, a number of calls or of tokens is used up
    ├── Cancelled           whoever asked does not want the answer any more
    ├── StalePose           no pose is known near enough to the asked time
    ├── GoalRejected        an answer cannot become a navigation goal
    ├── NodeUnavailable     a ROS node does not answer or cannot be configured
    ├── BagUnreadable       a recording is damaged, empty or lacks what is needed
    └── InvalidRequest      an argument makes no sense (wrong usage)

Messages say what is wrong and what to do about it.
"""


class RemembrError(Exception):
    """Base of every error that the package raises on purpose."""


class StoreUnavailable(RemembrError):
    """Raised when the database cannot be reached, opened or written."""


class StoreMismatch(RemembrError):
    """Raised when a collection was made with another embedder or schema."""


class EmbedderUnavailable(RemembrError):
    """Raised when the embedding model is not installed or cannot be loaded."""


class CaptionerFailed(RemembrError):
    """Raised when a captioner could not describe a segment."""


class TranscriberUnavailable(RemembrError):
    """Raised when speech recognition is not installed or its model cannot be loaded."""


class ChatUnavailable(RemembrError):
    """Raised when the language model's server cannot be reached or refuses the request."""


class ReplyInvalid(RemembrError):
    """Raised when the language model's replies could not be used."""


class Ungrounded(RemembrError):
    """Raised when an answer cites memories that were never recalled."""


class BudgetExceeded(RemembrError):
    """Raised when a deadline, a number of calls or of tokens is used up."""


class Cancelled(RemembrError):
    """Raised when whoever asked does not want the answer any more."""


class StalePose(RemembrError):
    """Raised when no pose is known near enough to the asked time."""


class GoalRejected(RemembrError):
    """Raised when an answer cannot become a navigation goal."""


class NodeUnavailable(RemembrError):
    """Raised when a ROS node does not answer or cannot be configured."""


class BagUnreadable(RemembrError):
    """Raised when a recording is damaged, empty or lacks what is needed."""


class InvalidRequest(RemembrError):
    """Raised when an argument makes no sense."""
