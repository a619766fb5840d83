#!/usr/bin/env bash
# Drives every mechanism of the token-frugal protocol end to end against a planning folder of its own: 55 assertions.
# Needs bash and the launchers of the parent folder, not jq. Exit 0 if and only if all assertions hold.
set -u

BIN=$(cd "$(dirname "$0")/.." && pwd)
ROOT=$(mktemp -d)
trap 'rm -rf "$ROOT"' EXIT
export HEIMDALL_PLANNING_DIR="$ROOT/.planning"
cd "$ROOT" || exit 2
unset HEIMDALL_ROLE SUB_RUN_ID
PASSED=0
FAILED=0

check() { # check NAME COMMAND…: the command succeeds
  local name=$1
  shift
  if "$@" >/dev/null 2>&1; then PASSED=$((PASSED + 1)); else
    FAILED=$((FAILED + 1))
    echo "FAIL: $name" >&2
  fi
}
fails() { ! "$@"; }
same() { [ "$1" = "$2" ]; }
has() { case "$1" in *"$2"*) true ;; *) false ;; esac; }
lacks() { ! has "$1" "$2"; }
run() { local name=$1; shift; "$BIN/heimdall-$name" "$@" 2>/dev/null; }
validate() { printf '%s' "$1" | run validate; }
receive() { printf '%s\n%s\n' "$1" "$2" | "$BIN/heimdall-validate" --on-receipt 2>&1; }

GOOD='{"type":"task_result","from":"coder","msg_id":"m1","task":"3.2","status":"pass","criteria":[1,2,4],"commit":"a2ef507"}'
TRUNCATED='{"type":"task_result","from":"coder"'

# 1-9: the launchers start, and so does what they share.
for name in resolve blackboard capsule brief ledger validate gate protocol; do
  check "$name explains itself" run "$name" --help
done
check 'the shared program is built' test -f "$BIN/../dist/cli.cjs"

# 10-14: init lays out the planning folder.
check 'init succeeds' run protocol init
check 'symbols.json exists' test -f .planning/protocol/symbols.json
check 'blackboard.json exists' test -f .planning/blackboard.json
check 'capsules/ is a folder' test -d .planning/protocol/capsules
check 'message-schema.json is the published one' cmp .planning/protocol/message-schema.json "$BIN/protocol/message-schema.json"

# 15-20: symbols, both ways.
check 'set F12' same "$(run resolve set F12 src/matching/engine.ts)" 'F12 = src/matching/engine.ts'
check 'set C3' run resolve set C3 'balances sum to zero'
check 'F12 resolves' same "$(run resolve F12)" 'src/matching/engine.ts'
check 'C3 resolves' same "$(run resolve C3)" 'balances sum to zero'
check 'the path leads back to F12' same "$(run resolve --reverse src/matching/engine.ts)" F12
check 'an unknown symbol fails' fails run resolve NOPE

# 21-25: the blackboard.
check 'set dev_port' same "$(run blackboard set dev_port 5173)" 'dev_port = 5173'
check 'set node_version' run blackboard set node_version 20.11.0
check 'get dev_port' same "$(run blackboard get dev_port)" 5173
check 'get node_version' same "$(run blackboard get node_version)" 20.11.0
check 'a missing fact fails' fails run blackboard get missing_key

# 26-32: capsules have at most ten lines; hydration brings dependencies and nothing else.
check 'write wave1' run capsule write wave1 --what 'added LOB engine' --where F12 \
  --decision 'serial-replay reference' --gotcha 'seed must be fixed'
check 'write wave2' run capsule write wave2 --what 'added book diff' --where F12 --depends wave1
check 'write wave3' run capsule write wave3 --what 'unrelated docs' --where README
check 'wave1 has at most ten lines' test "$(wc -l <.planning/protocol/capsules/wave1.md)" -le 10
hydrated=$(run capsule hydrate wave2)
check 'hydrate has wave1' has "$hydrated" 'added LOB engine'
check 'hydrate has wave2' has "$hydrated" 'added book diff'
check 'hydrate lacks wave3' lacks "$hydrated" 'unrelated docs'

# 33-38: messages, and one retry on receipt.
check 'a task_result is accepted' same "$(validate "$GOOD")" '{"valid":true,"errors":[]}'
check 'a missing task and a bad status are rejected' fails validate \
  '{"type":"task_result","from":"coder","msg_id":"m2","status":"banana"}'
check 'truncated JSON is rejected' fails validate "$TRUNCATED"
check 'an unknown type is rejected' fails validate '{"type":"frobnicate","from":"x","msg_id":"m3"}'
check 'a malformed message gets one retry' has "$(receive "$TRUNCATED" "$GOOD")" 'ACCEPTED on retry'
check 'a second failure escalates' fails receive "$TRUNCATED" "$TRUNCATED"

# 39-44: a delta brief has what the task refers to, and never the plan.
echo 'THE WHOLE PLAN' >PLAN-alpha.md
echo '# Invariants' >INVARIANTS.md
brief=$(run brief build --task 3.2 --spec 'implement book diff' --symbols F12,C3 --capsules wave2 --invariants INVARIANTS.md)
check 'the brief has the specification' has "$brief" 'implement book diff'
check 'the brief has the symbol' has "$brief" F12
check 'the brief has the capsule' has "$brief" wave2
check 'the brief resolves the symbol' has "$brief" 'src/matching/engine.ts'
check 'the brief lacks the plan' lacks "$brief" 'THE WHOLE PLAN'
check 'the brief lacks wave3' lacks "$brief" 'unrelated docs'

# 45-51: the token ledger.
check 'log a brief' run ledger log --role orchestration --kind brief --tokens 12000
check 'log a result' same "$(run ledger log --role coder --kind task_result --tokens 800)" 'logged coder/task_result=800'
check 'the ledger has two lines' test "$(wc -l <.planning/protocol/ledger.jsonl)" -eq 2
check 'the report adds up' has "$(run ledger report)" 'TOTAL: 12800 tokens'
check 'record a baseline' same "$(run ledger baseline --role orchestration --tokens 41000)" 'baseline orchestration = 41000 (v1)'
delta=$(run ledger delta --role orchestration)
check 'the delta has the baseline' has "$delta" 'orchestration: 41000 ->'
check 'the delta has the cost' has "$delta" '-> 12000 tokens (v1 baseline -> measured; -71%)'

# 52-55: the gate adapter refers to the report and does not carry it.
echo '{"gate_id":"exchange-lob","status":"pass","metrics":{"trades":3},"wave":null}' >report.json
gate=$(run gate to-message --report report.json --from sentinel-bloat --msg-id g1)
check 'the gate_report is valid' same "$(validate "$gate")" '{"valid":true,"errors":[]}'
check 'the gate is named' has "$gate" '"gate_id":"exchange-lob"'
check 'the status is carried' has "$gate" '"status":"pass"'
check 'the metrics are not carried' lacks "$gate" metrics

echo "RESULT: $PASSED passed, $FAILED failed"
[ "$FAILED" -eq 0 ]
