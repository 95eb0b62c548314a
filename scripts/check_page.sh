#!/usr/bin/env bash
# Checks the page's JavaScript where node is installed: its tests, its types (JSDoc), the length of its lines.
set -euo pipefail
cd "$(dirname "$0")/.."
if awk 'length > 110 { print FILENAME ":" FNR ": longer than 110"; found = 1 } END { exit !found }' remembr_ros/web/page/*.js; then
  exit 1
fi
if ! command -v node npx > /dev/null; then
  echo 'node is not installed: the page is not checked'
  exit 0
fi
node --test test/page/*.test.mjs > /dev/null || node --test test/page/*.test.mjs
# Fetched by npm into its own cache. Pinned: each version finds other faults.
tsc=(npx --yes --package typescript@5.9.3 tsc)
if "${tsc[@]}" --version > /dev/null 2>&1; then
  "${tsc[@]}" --project test/page
else
  echo 'npm cannot fetch TypeScript: the types of the page are not checked'
fi
