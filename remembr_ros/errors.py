"""The package's exceptions.

    RemembrError
    ├── StoreUnavailable    the database cannot be reached, opened or written
    │   ├── EmbedderLoading     the embedding model is still being loaded
    │   └── ObjectsChanged      somebody else changed objects: read them again
    ├── StoreMismatch       the collection was made with another embedder or schema
    ├── EmbedderUnavailable the embedding model is not installed or cannot be loaded
    ├── NothingRemembered   there are no memories of the time asked for
    ├── CaptionerFailed     a captioner could not describe a segment
    ├── DetectorFailed      a detector cannot be loaded or does not work
    ├── TranscriberUnavailable  speech recognition is not installed or cannot be loaded
    ├── SoundUnavailable    a microphone, or a program that speaks, is missing or failed
    ├── ChatUnavailable     the language model's server cannot be reached, or refused
    ├── ReplyInvalid        the language model's replies could not be used
    ├── Ungrounded          the answer cites memories that were never recalled
    ├── BudgetExceeded      a deadline, a number of calls or of tokens is used up
    ├── Cancelled           whoever asked does not want the answer any more
    ├── StalePose           no pose is known near enough to the asked time
    ├── GoalRejected        an answer cannot become a navigation goal
    │   └── NoPlace         it has no place that could be one
    ├── NavigationFailed    the robot did not get to its goal
    │   ├── NavigationUnavailable   what drives the robot is not there, or went away
    │   ├── NavigationRefused       it refused the goal
    │   ├── NavigationAborted       it gave up on the way
    │   ├── NavigationCancelled     somebody else cancelled the goal
    │   ├── NavigationTimedOut      it fell silent, or did not arrive in time
    │   ├── Preempted               a newer goal took its place
    │   ├── NotConfirmed            a person refused the goal, or did not confirm it in time
    │   ├── NotThere                it did, and what it was sent to is not there any more
    │   └── NotLooked               it did, and could not see whether that is there
    ├── NodeUnavailable     a ROS node does not answer or cannot be configured
    ├── BagUnreadable       a recording is damaged, empty or lacks what is needed
    ├── ExtensionFailed     what another package adds is missing, cannot be imported, or is there twice
    └── InvalidRequest      an argument makes no sense (wrong usage)

Messages say what is wrong and what to do about it. What they quote of files, servers and messages comes as
text that a terminal, or who reads a node's log, is not fooled by.
"""

from remembr_ros.printable import printable


class RemembrError(Exception):
    """Base of every error that the package raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())

    @property
    def kind(self) -> str:
        """The name above by which it is caught; that of its class says more to the modules that raise it."""
        return next(base.__name__ for base in type(self).__mro__ if base.__module__ == __name__)


class StoreUnavailable(RemembrError):
    """Raised when the database cannot be reached, opened or written."""


class EmbedderLoading(StoreUnavailable):
    """Raised when the embedding model is still being loaded: soon it works."""


class ObjectsChanged(StoreUnavailable):
    """Raised when somebody else changed objects since they were read: they have to be read again."""


class StoreMismatch(RemembrError):
    """Raised when a collection was made with another embedder or schema."""


class EmbedderUnavailable(RemembrError):
    """Raised when the embedding model is not installed or cannot be loaded."""


class NothingRemembered(RemembrError):
    """Raised when there are no memories of the time asked for."""


class CaptionerFailed(RemembrError):
    """Raised when a captioner could not describe a segment.

    :param scene_text: what could be read in it all the same, one entry per sign, as of a caption
    """

    def __init__(self, message: str = '', scene_text: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.scene_text = scene_text


class DetectorFailed(RemembrError):
    """Raised when a detector cannot be loaded or does not work."""


class TranscriberUnavailable(RemembrError):
    """Raised when speech recognition is not installed or its model cannot be loaded."""


class SoundUnavailable(RemembrError):
    """Raised when a microphone, or a program that speaks, is missing or failed."""


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
    """Raised when no pose is known near enough to the asked time.

    :param why: the same in few words and without numbers, so that it can be counted
    """

    def __init__(self, message: str, why: str = '') -> None:
        super().__init__(message)
        self.why = why or message


class GoalRejected(RemembrError):
    """Raised when an answer cannot become a navigation goal."""


class NoPlace(GoalRejected):
    """Raised when an answer has no place that could become a navigation goal."""


class NavigationFailed(RemembrError):
    """Raised when the robot did not get to its goal."""


class NavigationUnavailable(NavigationFailed):
    """Raised when what drives the robot is not there, or went away."""


class NobodyDrives(NavigationFailed):
    """Raised when a pose was to be published for what drives the robot, and nothing that drives listens."""


class NavigationRefused(NavigationFailed):
    """Raised when what drives the robot refused the goal."""


class NavigationAborted(NavigationFailed):
    """Raised when what drives the robot gave up on the way."""


class NavigationCancelled(NavigationFailed):
    """Raised when somebody else cancelled the goal."""


class NavigationTimedOut(NavigationFailed):
    """Raised when what drives the robot fell silent, or did not arrive in time."""


class Preempted(NavigationFailed):
    """Raised when a newer goal took the place of this one."""


class NotConfirmed(NavigationFailed):
    """Raised when a person refused the goal, or did not confirm it in time."""


class NotThere(NavigationFailed):
    """Raised when the robot has arrived, and what it was sent to is not there any more."""


class NotLooked(NavigationFailed):
    """Raised when the robot has arrived, and could not see whether what it was sent to is there."""


class NodeUnavailable(RemembrError):
    """Raised when a ROS node does not answer or cannot be configured."""


class BagUnreadable(RemembrError):
    """Raised when a recording is damaged, empty or lacks what is needed."""


class ExtensionFailed(RemembrError):
    """Raised when what another package adds is missing, cannot be imported, or is there twice."""


class InvalidRequest(RemembrError):
    """Raised when an argument makes no sense."""
