"""In a few words, which memories a question was about."""

from datetime import datetime, tzinfo

from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import NS


def asked_of(scope: Scope, zone: tzinfo) -> str:
    """Return such as 'asked of porter-1 on map office, 2026-11-23 09:00 to 10:00'; empty: of all memories.

    :param zone: whose clock the times are on
    """
    who = f'of {" or ".join(scope.robots)}' if scope.robots else ''
    where = '' if scope.map_id is None else f'on map {scope.map_id}' if scope.map_id else 'without a map'
    told = ', '.join(filter(None, (f'{who} {where}'.strip(), _window(scope, zone))))
    return told and f'asked {told}'


def _window(scope: Scope, zone: tzinfo) -> str:
    after, before = (
        None if time_ns is None else datetime.fromtimestamp(time_ns // NS, zone)
        for time_ns in (scope.after_ns, scope.before_ns)
    )
    if after and before:
        same_day = after.date() == before.date()
        return f'{after:%Y-%m-%d %H:%M} to {before:{"%H:%M" if same_day else "%Y-%m-%d %H:%M"}}'
    return f'since {after:%Y-%m-%d %H:%M}' if after else f'until {before:%Y-%m-%d %H:%M}' if before else ''
