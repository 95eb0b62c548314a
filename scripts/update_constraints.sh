#!/usr/bin/env bash
# Resolve the newest versions that fit setup.py of both packages and write them to requirements/constraints.txt.
# What torch itself depends on (CUDA or not) is left to the torch build that is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
{
  echo '# Tested versions, for Python 3.10 to 3.13. Written by scripts/update_constraints.sh; change setup.py, not this.'
  printf '%s\n' '-e .[all,dev]' '-e ./remembr_bench' | cat - requirements/ros-jazzy-wheels.txt \
    | .venv/bin/uv pip compile --quiet --universal --python-version 3.10 --no-header --no-annotate - \
      --constraint <(echo 'torch==2.13.0') \
    | grep -v -E '^(-e |nvidia-|cuda-|triton|torch==)'
  echo 'torch==2.13.0'
} > requirements/constraints.new
mv requirements/constraints.new requirements/constraints.txt
