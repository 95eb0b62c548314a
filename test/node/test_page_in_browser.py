"""Two browsers on the page of one robot, which runs as processes: memory, agent and web node."""

import pytest
from lifecycle_msgs.srv import GetState
from std_msgs.msg import String

pytest.importorskip('fastapi', reason='the page needs the extra web')

from test.browser.conftest import chromium, look  # noqa: F401
from test.browser.served import eventually, results, settled
from test.node.test_page import TOKENS, Page


@pytest.fixture
def page(robot, processes, tmp_path, monkeypatch):
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    return Page(robot, processes, tmp_path, guarded=False)


@pytest.mark.timeout(300)
def test_a_click_sends_the_robot_and_forgets_and_both_see_it(robot, goals, page, look, tmp_path):  # noqa: F811
    address = f'http://127.0.0.1:{page.port}'
    robot.call(GetState, 'agent/get_state', GetState.Request())  # see the fixture goals
    mine, other = settled(look(f'{address}/?view=search&q=lift')), settled(look(address, 'phone'))

    # Go there: nothing moves before somebody has said yes, and that may be the other one.
    results(mine).first.click()
    mine.get_by_role('button', name='Go there').click()
    for one in (mine, other):
        one.locator('#drive').get_by_text('Drive to (10.0, 1.0)').wait_for()
    assert goals == []
    other.get_by_role('button', name='Drive', exact=True).click()
    for one in (mine, other):
        one.locator('#drive').get_by_text('The robot was sent there').wait_for()
    robot.wait(lambda: goals, 'a goal')
    assert (goals[0].pose.position.x, goals[0].pose.position.y) == (10.0, 1.0)

    # Forget: what would go with it is said, the picture goes from the disk, both pages have a memory less.
    chair = page.recalled('chair')
    (picture,) = tmp_path.rglob(chair['keyframes'][0])
    mine.goto(f'{address}/?view=search&memory={chair["id"]}')
    mine.get_by_role('button', name='Forget').click()
    mine.get_by_text('1 picture will be deleted').wait_for()
    mine.get_by_role('dialog').get_by_role('button', name='Forget').click()
    mine.get_by_text('The memory is forgotten').first.wait_for()
    assert not picture.exists()
    for one in (mine, other):
        eventually(one, 'document.querySelector("#count").textContent === "2 memories"')

    # What somebody asks the robot itself appears.
    mine.goto(f'{address}/?view=ask')
    settled(mine)
    robot.talk(String, 'question').publish(String(data='Where is the red mug?'))
    mine.get_by_text('Where is the red mug?').first.wait_for()


@pytest.mark.timeout(300)
def test_who_may_only_look_sees_the_goal_and_cannot_say_yes(robot, goals, processes, look, tmp_path):  # noqa: F811
    page = Page(robot, processes, tmp_path, guarded=True)
    address = f'http://127.0.0.1:{page.port}/?view=search&q=lift'
    acting, looking = look(address, forgiven='401'), look(address, forgiven='401')
    for one, right in ((acting, 'act'), (looking, 'look')):
        one.get_by_role('dialog').get_by_label('Token', exact=True).fill(TOKENS[right])
        one.get_by_role('button', name='Log in').click()
        results(settled(one)).first.click()
        one.locator('#memory h2').wait_for()
    for name in ('Go there', 'Forget', 'Add a note here', 'Stop the robot'):
        assert looking.get_by_role('button', name=name).count() == 0
    acting.get_by_role('button', name='Go there').click()
    looking.locator('#drive').get_by_text('Drive to (10.0, 1.0)').wait_for()
    assert looking.get_by_role('button', name='Drive', exact=True).count() == 0
    # Whoever may drive can always stop it, whatever it drives to, and a goal that waits for a yes with it.
    acting.get_by_role('button', name='Stop the robot').click()
    acting.get_by_text('one drive stopped').first.wait_for()
    for one in (acting, looking):
        eventually(one, '!document.querySelector("#drive").textContent.includes("Drive to (10.0, 1.0)?")')
    assert goals == []
