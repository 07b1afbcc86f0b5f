#!/usr/bin/env bash
# Waits until somebody else approved the plan in plan.json, applies exactly that plan, and reports the result.
#   SVC_URL=https://svc.example.com SVC_TOKEN=... SVC_WORKSPACE=acme ./apply.sh
set -euo pipefail
summary=${SUMMARY_FILE:-${GITHUB_STEP_SUMMARY:-summary.md}}
run=$(jq -r .run.id plan.json)
read_digest=$(jq -r .run.planDigest plan.json)

svc run wait "$run" --approved --wait-timeout "${WAIT:-4h}" --json > approved.json
approved_digest=$(jq -r .run.planDigest approved.json)
if [ "$approved_digest" != "$read_digest" ]; then
  echo "The approved plan is $approved_digest, and the plan that was read is $read_digest. Nothing was applied." >&2
  exit 1
fi

# The same key: a repetition of this job follows the first apply.
code=0
svc apply "$run" --idempotency-key "apply-$run" --json > applied.json || code=$?
{
  echo "### Apply of $read_digest"
  echo
  jq -r '"\(.run.status): \(.run.id), approved by \($approved[0].run.approvedBy // "a rule")"' --slurpfile approved approved.json applied.json
} >> "$summary"
exit "$code"
