from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import TALK, deed
from remembr_ros.memory.deeds.occurrences import IN_VIEW_NS, LATELY_NS, find_deeds, in_view, just_done
from remembr_ros.memory.deeds.query import DeedQuery
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS
from test.object_room import CUP, VISITS
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.offline.places.test_place_answers import DRIVE, ROOMS, T

SECOND = NS


def told(second: int, **about) -> Memory:
    about = {'kind': 'pick', 'outcome': 'succeeded'} | about
    return deed(T + second * NS, T + (second + 5) * NS, **about).memory('r')


def find(memories: list[Memory], query: DeedQuery):
    return find_deeds(ListedRecall(memories), query).found


def test_each_time_of_a_deed_is_one() -> None:
    times = ((T, T + NS), (T + 60 * NS, T + 70 * NS))
    patrol = deed(T, T + 70 * NS, kind='go', times=times).memory('r')
    assert [one.seconds for one in find([patrol], DeedQuery('go'))] == [1.0, 10.0]
    assert len(find([patrol], DeedQuery(scope=Scope(after_ns=T + 30 * NS)))) == 1


def test_the_talk_with_the_memory_is_no_deed_but_where_that_is_asked_for() -> None:
    asked = deed(T, T, kind='ask', text='Asked where the cup is.').memory('r', TALK)
    assert find([asked], DeedQuery()) == ()
    assert len(find([asked], DeedQuery('ask'))) == 1


def test_a_deed_has_the_name_of_the_place_that_it_was_done_in() -> None:
    picked = told(0, object='cup', pose=Pose(15.0, 5.0))
    assert find([picked, *ROOMS], DeedQuery(place='hall'))[0].where == 'hall'
    assert find([picked, *ROOMS], DeedQuery(place='kitchen')) == ()


def test_how_far_is_what_is_told_else_a_straight_line() -> None:
    at = {'pose': Pose(0.0, 0.0)}, {'kind': 'go', 'pose': Pose(3.0, 4.0)}, {'pose': Pose(3.1, 4.0)}
    some = [told(10 * number, **about) for number, about in enumerate(at)]
    assert [one.metres for one in find(some, DeedQuery())] == [0.0, 5.0, 0.0]
    driven = told(30, kind='go', pose=Pose(0.0, 0.0), travelled=7.5)
    assert [one.metres for one in find([*some, driven], DeedQuery())] == [0.0, 0.0, 0.0, 7.5]


def test_stays_are_of_the_camera_else_of_the_deeds() -> None:
    stays = find([*DRIVE, *ROOMS], DeedQuery('stay', place='hall'))
    assert [one.seconds for one in stays] == [40.0, 20.0]
    never = find([*DRIVE, *ROOMS], DeedQuery('stay', never='place'))
    assert sorted(one.where for one in never) == ['cellar', 'living room']
    done = [told(0, place='lab'), told(30, place='lab'), told(60, place='store'), told(90, place='lab')]
    assert [one.where for one in find(done, DeedQuery('stay'))] == ['lab', 'store', 'lab']


def test_sights_of_a_thing_and_how_it_moved() -> None:
    (cup,) = find([*DRIVE, *ROOMS], DeedQuery('sight', object='cup'))
    assert (cup.memory.id, cup.where) == ('m03', 'kitchen')
    standing = find(list(DRIVE), DeedQuery('standing'))
    assert standing
    assert all(one.facts.kind == 'standing' for one in standing)
    assert {one.facts.kind for one in find(list(DRIVE), DeedQuery('moving'))} >= {'standing'}


def test_what_was_seen_so_long_ago_is_in_view_and_no_longer() -> None:
    recall, last_ns = ListedRecall([CUP.memory]), VISITS[1][1]
    assert in_view(recall, last_ns + IN_VIEW_NS, None, ANYTHING)[0] == 'In view, 1 of 1'
    head, found = in_view(recall, last_ns + IN_VIEW_NS + 10 * NS, None, ANYTHING)
    assert (head, found.total) == ('No object in view for 25 seconds; seen last', 1)
    between_ns = (VISITS[0][1] + VISITS[1][0]) // 2  # what comes is not known yet
    assert in_view(recall, between_ns, None, ANYTHING)[0].startswith('No object in view for 59 minutes')
    assert in_view(recall, 0, Pose(0.0, 0.0), Scope(map_id='other'))[0] == 'No object in view so far'


def test_what_was_over_so_long_ago_was_just_done_and_no_longer() -> None:
    recall, over_ns = ListedRecall([told(0), told(10)]), T + 15 * NS
    head, done = just_done(recall, over_ns + LATELY_NS, ANYTHING)
    assert (head, [one.start_ns for one in done]) == ('Just done', [T + 10 * NS])
    head, done = just_done(recall, over_ns + LATELY_NS + 1, Scope(after_ns=0, before_ns=0))
    assert (head, [one.start_ns for one in done]) == (
        'No deed in the last 10 minutes; before that',
        [T + 10 * NS],
    )
    assert just_done(recall, 0, ANYTHING) == ('No deed so far', [])
