#!/usr/bin/env bash
# Plans a Capsule and keeps the plan that was read: plan.json goes to the job that applies it.
#   SVC_URL=https://svc.example.com SVC_TOKEN=... SVC_WORKSPACE=acme ./plan.sh network
set -euo pipefail
capsule=$1
summary=${SUMMARY_FILE:-${GITHUB_STEP_SUMMARY:-summary.md}}

# 3: the plan waits for approval. 0: nothing would change. Everything else is a failure.
code=0
svc plan "$capsule" --wait-timeout 30m --json > plan.json || code=$?
[ "$code" = 0 ] || [ "$code" = 3 ] || exit "$code"

run=$(jq -r .run.id plan.json)
{
  echo "### Plan of $capsule"
  echo
  echo '```text'
  svc run get "$run"
  echo '```'
} >> "$summary"
