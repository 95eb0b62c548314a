"""The parameters of the agent node that say where, and by what, the robot drives."""

import dataclasses

from remembr_ros.agent.arrival import MOST_PLACES, WAY_M
from remembr_ros.forms.parameter import parameter
from remembr_ros.navigation.grid import MAP_OCCUPIED
from remembr_ros.navigation.plan import ORDERS

NAVIGATIONS = ('goal_pose', 'nav2', 'simple_commander', 'none')
NAV2 = ('nav2', 'simple_commander')  # those that tell how it goes


@dataclasses.dataclass(frozen=True)
class NavigationParameters:
    """What becomes of an answer with a place."""

    navigation: str = parameter(
        'goal_pose',
        'what becomes of a place that the robot shall go to: a pose on topic goal_pose, where what drives '
        "has to listen, as Nav2's bt_navigator does; a drive by Nav2's actions or by nav2_simple_commander; "
        'or nothing',
        choices=NAVIGATIONS,
    )
    goal_order: str = parameter(
        'shortest', 'order in which several places are visited', choices=ORDERS, live=True
    )
    max_places: int = parameter(20, 'places visited for one question', '1 to 1000', live=True)
    require_map: bool = parameter(False, 'true: without a map on topic map there is no goal', live=True)
    occupied_threshold: int = parameter(
        MAP_OCCUPIED, 'cells of the map from this value on are occupied', '1 to 100'
    )
    goal_clearance: float = parameter(
        0.2, 'goals keep this distance from what the map has as occupied', '0 to 10 m', live=True
    )
    goal_search_radius: float = parameter(
        1.0,
        'where the robot cannot stand, the nearest free place within this is taken; 0: none',
        '0 to 20 m',
        live=True,
    )
    max_goal_distance: float = parameter(
        0.0, 'goals are at most this far, in a straight line; 0: any', '0 to 1000000 m', live=True
    )
    keep_out: list[str] = parameter(
        [], "areas that no goal may lie in, each as corners 'x y, x y, x y'", unit='m', live=True
    )
    confirm_goals: bool = parameter(
        False,
        'true: the robot drives after service ~/confirm was called; goals are on topic proposed_goals',
        live=True,
    )
    min_confidence_to_drive: float = parameter(
        0.5,
        'a place of which an answer is less sure than this waits for ~/confirm, too; 0: none does',
        '0 to 1',
        live=True,
    )
    confirm_timeout: float = parameter(
        30.0, 'a goal that was not confirmed for so long is dropped', '0.1 to 3600 s'
    )
    nav2_namespace: str = parameter('/', "namespace of Nav2's actions, such as /robot1")
    simple_commander_class: str = parameter(
        'nav2_simple_commander.robot_navigator:BasicNavigator',
        'what drives with navigation simple_commander: this, or a class of your own that derives from it',
    )
    nav2_server_timeout: float = parameter(
        2.0, 'wait so long for a server of Nav2, and again for each of its responses', '0.05 to 60 s'
    )
    nav2_silence_timeout: float = parameter(
        10.0, 'a drive ends when Nav2 tells nothing for so long', '0.1 to 3600 s'
    )
    look_timeout: float = parameter(
        20.0,
        'a robot that looks on arrival waits so long for its cameras to tell; the objects node stores what '
        'it saw every 10 s',
        '0.1 to 600 s',
        live=True,
    )
    search_places: int = parameter(
        MOST_PLACES, 'places searched on arrival for what is not there', '0 to 100', live=True
    )
    search_distance: float = parameter(
        WAY_M, 'way to all of these, in straight lines', '0 to 100000 m', live=True
    )
    drive_timeout: float = parameter(600.0, 'no drive takes longer', '0.1 to 86400 s', live=True)
