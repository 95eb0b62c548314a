import pytest

from remembr_bench.evaluation.report.results import results_json
from remembr_bench.evaluation.run.grid import grid_markdown, read_grid
from remembr_ros.errors import InvalidRequest


@pytest.fixture
def grid(tmp_path):
    def write(text: str):
        file = tmp_path / 'grid.yaml'
        file.write_text(text)
        return file

    return write


def test_every_combination_is_a_run_of_its_own(grid):
    cells = read_grid(
        grid(
            'base: {folder: navqa, planner: offline}\n'
            'grid: {memories_per_call: [3, 5], hybrid: [true, false]}'
        )
    )
    assert [cell.settings for cell in cells] == [
        {'memories_per_call': m, 'hybrid': h} for m in (3, 5) for h in (True, False)
    ]
    assert cells[1].config.memories_per_call == 3
    assert cells[1].config.hybrid is False
    assert {cell.config.folder for cell in cells} == {'navqa'}
    assert cells[0].name == 'memories_per_call=3,hybrid=true'
    assert len({cell.name for cell in cells}) == 4


def test_a_setting_that_is_given_takes_the_place_of_that_in_the_file(grid):
    (cell,) = read_grid(grid('base: {folder: navqa}\ngrid: {rounds: [1]}'), folder='elsewhere')
    assert cell.config.folder == 'elsewhere'


def test_long_and_odd_settings_have_names_that_folders_can_have(grid):
    cells = read_grid(grid(f'grid: {{folder: ["/a b/c:d", "/a b/c;d"], captions: [{"x" * 150}]}}'))
    assert len({cell.name for cell in cells}) == 2
    assert all('/' not in cell.name and len(cell.name) < 130 for cell in cells)


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('[', 'YAML'),
        ('', "section 'grid'"),
        ('base: {}', "section 'grid'"),
        ('grid: {rounds: [1]}\nmore: 1', 'nothing else'),
        ('grid: [1]', 'map names'),
        ('grid: {rounds: 3}', 'list of values'),
        ('grid: {rounds: []}', 'list of values'),
        ('base: {rounds: 2}\ngrid: {rounds: [1]}', 'and in grid'),
        ('grid: {rounds: [99]}', 'rounds'),
        ('grid: {sauce: [1]}', 'sauce'),
        (f'grid: {{rounds: {list(range(1, 31))}, memories_per_call: {list(range(1, 31))}}}', '900 runs'),
    ],
)
def test_a_grid_without_sense_is_refused(grid, text, words):
    with pytest.raises(InvalidRequest, match=words):
        read_grid(grid(text))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidRequest, match='cannot be read'):
        read_grid(tmp_path / 'grid.yaml')


def test_a_row_per_run(grid, record):
    cells = read_grid(grid('grid: {hybrid: [true, false]}'))
    runs = [results_json(run, (), planner='', data='', embedder='') for run in ([record()], [])]
    lines = grid_markdown(cells, runs).splitlines()
    assert lines[0].startswith(
        '| Correct, retrieval, cost of a question | SHORT | MEDIUM | LONG | ALL | 95 % |'
    )
    assert lines[2].startswith('| hybrid true | 1.00 | - | - | 1.00 | 1.00 to 1.00 |')
    assert lines[3].startswith('| hybrid false | - | - | - | - | - |')


def test_runs_that_differ_by_their_planner_are_called_by_it(grid):
    cells = read_grid(grid('grid: {planner: [top1, offline]}'))
    assert [cell.title for cell in cells] == ['top1', 'offline']


def test_the_servers_of_a_grid_are_named_without_a_password(grid):
    urls = '["http://anna:Tr0ub4dor@robot/v1", ollama]'
    cells = read_grid(grid(f'grid: {{planner: [agent], llm: [x], llm_url: {urls}}}'))
    assert cells[0].config.llm_url == 'http://anna:Tr0ub4dor@robot/v1'
    assert [cell.settings['llm_url'] for cell in cells] == ['http://robot/v1', 'ollama']
    assert not any('Tr0ub4dor' in cell.name + cell.title for cell in cells)
