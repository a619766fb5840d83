"""What a record of a run adds up to, by docs/events.md alone: an independent check of the fold.

Reads the paths of records from the command line, prints one JSON object for each.
"""
import json
import sys

LINE_BYTES_MAX = 1 << 20


def events_of(path):
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    for line in lines:
        if len(line) > LINE_BYTES_MAX:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def fold(path):
    started, decided, open_calls = set(), set(), set()
    budgets = {}
    totals = {"total": 0, "allowed": 0, "blocked": 0, "throttled": 0, "errors": 0}
    segment, ended = 0, False
    for event in events_of(path):
        kind = event.get("type")
        call = event.get("call")
        call = call if isinstance(call, dict) else {}
        if kind in ("tool_call_start", "tool_call_decision", "tool_call_end") and not isinstance(call.get("call_id"), str):
            continue
        if kind == "run_start":
            if not isinstance(event.get("ts"), str):
                continue
            segment, ended = segment + 1, False
            totals = dict.fromkeys(totals, 0)
        elif kind == "run_end":
            ended = True
            open_calls.clear()
        elif kind == "tool_call_start":
            seq = call.get("seq")
            if seq in started:
                continue
            started.add(seq)
            open_calls.add(call["call_id"])
            totals["total"] += 1
        elif kind == "tool_call_decision":
            seq = call.get("seq")
            if seq in decided:
                continue
            decided.add(seq)
            decision = event.get("decision") or {}
            if decision.get("action") == "ALLOW" or decision.get("enforced") is False:
                totals["allowed"] += 1
            elif decision.get("action") == "THROTTLE":
                totals["throttled"] += 1
            else:
                totals["blocked"] += 1
            for count in decision.get("counters", []):
                if count["counter"] in ("calls", "cost_units"):
                    sums = budgets.setdefault(count["key"], {"calls": 0, "cost_units": 0})
                    sums[count["counter"]] += count["after"] - count["before"]
        elif kind == "tool_call_end":
            if call["call_id"] not in open_calls:
                continue
            open_calls.discard(call["call_id"])
            if event.get("status") in ("ERROR", "TIMEOUT"):
                totals["errors"] += 1
    spent = {key: sums for key, sums in budgets.items() if any(sums.values())}
    last = max(started, default=0)
    return {"segment": segment, "ended": ended, "totals": totals, "last": last, "budgets": spent}


for record in sys.argv[1:]:
    print(json.dumps(fold(record)))
