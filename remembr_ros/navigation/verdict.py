"""The outcome of a goal, from the status with which a Nav2 action ended."""

from collections.abc import Sequence

from remembr_ros.errors import NavigationAborted, NavigationCancelled, NavigationFailed, Preempted

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6  # how an action ended, as in action_msgs/GoalStatus


def verdict(
    status: int,
    *,
    error_code: int = 0,
    error_msg: str = '',
    missed: Sequence[int] = (),
    places: int = 1,
    superseded: bool = False,
) -> NavigationFailed | None:
    """Return why the robot is not where it was sent; None: it is.

    :param status: of the action
    :param error_code: of its result; 0: Nav2 names none
    :param missed: indices of the places that were not reached
    :param places: how many there were
    :param superseded: Nav2 has taken another goal since; it aborts the older one without a reason
    """
    skipped = ', '.join(str(index + 1) for index in missed)
    reached = f'; of {places} places, number {skipped} in the order of the visit was missed' if missed else ''
    if status == SUCCEEDED:
        if not missed:
            return None
        return NavigationAborted(f'Nav2 did not reach every place{reached}; see its log, and ask again')
    if status == CANCELED:
        return NavigationCancelled('the goal was cancelled in Nav2 by somebody else; ask again to drive on')
    if status == ABORTED and superseded:
        return Preempted('Nav2 was given another goal by somebody else; ask again to drive on')
    if status == ABORTED:
        reason = f': {error_msg}' if error_msg else ''
        number = f' (error {error_code})' if error_code else ''
        return NavigationAborted(
            f'Nav2 gave up{number}{reason}{reached}; see its log, clear the way and ask again'
        )
    return NavigationAborted(f'Nav2 ended the goal with status {status}, which means neither of its ends')
