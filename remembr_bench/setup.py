from setuptools import find_packages, setup

package_name = 'remembr_bench'

setup(
    name=package_name,
    version='0.1.0',
    packages=find_packages(include=[package_name, f'{package_name}.*']),
    package_data={
        package_name: ['py.typed', 'evaluation/prompts/*.md', 'evaluation/report/templates/*.j2'],
    },
    data_files=[
        ('share/ament_index/resource_index/packages', ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
    ],
    python_requires='>=3.10',
    install_requires=[
        'remembr_ros==0.1.0',
        'jinja2>=3.1',  # the report of an evaluation
        'matplotlib>=3.6',  # the demo's picture, and the letters on the signs of buildings
        'pyarrow>=15',  # FindingDory's tables are parquet
        'pyvista>=0.44',  # buildings and homes are drawn by VTK
    ],
    zip_safe=False,
    maintainer='remembr_ros maintainers',
    maintainer_email='maintainers@remembr-ros.org',
    description='The laboratory of remembr_ros: evaluations, simulated buildings and homes, the demo',
    license='Apache-2.0',
    # By the extra of this name colcon test knows that there are tests for pytest.
    extras_require={'test': ['pytest>=8,<9']},
    entry_points={
        'remembr.verbs': [
            'coda = remembr_bench.cli.coda',
            'demo = remembr_bench.cli.demo',
            'eval = remembr_bench.cli.eval',
        ],
        'remembr.detectors': ['simulation = remembr_bench.simulation.detector:recorded_detector'],
    },
)
