"""The error codes of the actions Ask and GoTo and the service Ask, by the package's own errors."""

from remembr_msgs.action import Ask
from remembr_ros import errors

_ASK_CODES: tuple[tuple[type[errors.RemembrError], int], ...] = (
    (errors.InvalidRequest, Ask.Result.INVALID_QUESTION),
    (errors.StoreUnavailable, Ask.Result.MEMORY_UNAVAILABLE),
    (errors.StoreMismatch, Ask.Result.MEMORY_UNAVAILABLE),
    (errors.EmbedderUnavailable, Ask.Result.MEMORY_UNAVAILABLE),
    (errors.ChatUnavailable, Ask.Result.CHAT_UNAVAILABLE),
    (errors.ReplyInvalid, Ask.Result.REPLY_INVALID),
    (errors.Ungrounded, Ask.Result.UNGROUNDED),
    (errors.BudgetExceeded, Ask.Result.BUDGET_EXCEEDED),
    (errors.NoPlace, Ask.Result.NO_PLACE),
    (errors.GoalRejected, Ask.Result.GOAL_REJECTED),
    (errors.NavigationUnavailable, Ask.Result.NAV_UNAVAILABLE),
    (errors.NavigationRefused, Ask.Result.NAV_REJECTED),
    (errors.NavigationAborted, Ask.Result.NAV_ABORTED),
    (errors.NavigationCancelled, Ask.Result.NAV_CANCELLED),
    (errors.NavigationTimedOut, Ask.Result.NAV_TIMEOUT),
    (errors.Preempted, Ask.Result.PREEMPTED),
    (errors.NotConfirmed, Ask.Result.NOT_CONFIRMED),
    (errors.Cancelled, Ask.Result.CANCELLED),
)


def ask_error(error_code: int, error_msg: str) -> errors.RemembrError:
    """Return the error of an error_code of action and service Ask, for who asked."""
    kind = next((kind for kind, code in _ASK_CODES if code == error_code), errors.RemembrError)
    return kind(error_msg)


def ask_error_code(error: BaseException) -> int:
    """Return the error_code of action and service Ask for an error."""
    return next((code for kind, code in _ASK_CODES if isinstance(error, kind)), int(Ask.Result.INTERNAL))
